// What Argo Rollouts itself makes of the analysis templates in deploy/rollouts/argo: its own controller, web and job
// providers and evaluation of conditions, with a clock that is moved on and a server that answers as the monitor does.
// Writes phases.json, which the tests of this project read.
//
// It is a test of Argo's package analysis, since what it calls is not exported. From a folder outside of this project:
//
//	go mod download -json github.com/argoproj/argo-rollouts@v1.10.0   # prints where Dir is
//	cp -r DIR argo && chmod -R u+w argo
//	cp PROJECT/tests/deploy/argo/phases_test.go argo/analysis/
//	cd argo && AEM_PROJECT=PROJECT go test -count=1 -run TestPhasesOfTheTemplates ./analysis
package analysis

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubeinformers "k8s.io/client-go/informers"
	core "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/argoproj/argo-rollouts/metricproviders"
	"github.com/argoproj/argo-rollouts/pkg/apis/rollouts/v1alpha1"
	analysisutil "github.com/argoproj/argo-rollouts/utils/analysis"
)

const version = "v1.10.0"

const monitor = "http://aem-monitor-api.aem-monitor.svc:21465"

// answer is what the monitor, or what stands before it, says. Status 0 is none: the connection is closed.
type answer struct {
	Status int    `json:"status"`
	Type   string `json:"type"`
	Body   string `json:"body"`
}

const asJSON, asPage = "application/json", "text/html"

var answers = map[string]answer{
	"pass":                {200, asJSON, `{"state": "pass"}`},
	"regression":          {200, asJSON, `{"state": "regression"}`},
	"not_enough_evidence": {200, asJSON, `{"state": "not_enough_evidence"}`},
	"wrong address":       {404, asJSON, `{"error": {"reason": "not_found"}}`},
	"wrong parameter":     {400, asJSON, `{"error": {"reason": "query"}}`},
	"store down":          {503, asJSON, `{"error": {"reason": "store"}}`},
	"unauthorized":        {401, asJSON, `{}`},
	"gateway error":       {502, asPage, "<h1>Bad gateway</h1>"},
	"no connection":       {0, "", ""},
	"no state":            {200, asJSON, `{}`},
	"state of the future": {200, asJSON, `{"state": "unheard_of"}`},
	"null":                {200, asJSON, `{"state": null}`},
	"login page":          {200, asPage, "<h1>Log in</h1>"},
	"plain text":          {200, "text/plain", "pass"},
}

// look is an answer that is given some times in a row.
type look struct {
	Answer string `json:"answer"`
	Times  int    `json:"times"`
}

var runs = [][]look{
	{{"pass", 1}},
	{{"regression", 1}},
	{{"not_enough_evidence", 29}, {"pass", 1}},
	{{"not_enough_evidence", 29}, {"regression", 1}},
	{{"not_enough_evidence", 29}},
	{{"not_enough_evidence", 30}},
	{{"no connection", 1000}},
	{{"no connection", 1000}, {"pass", 1}},
	{{"no connection", 1000}, {"regression", 1}},
	{{"store down", 100}, {"not_enough_evidence", 30}},
	{{"wrong address", 1000}},
	{{"unauthorized", 1000}},
}

func documentsOf(t *testing.T, name string) (*v1alpha1.AnalysisTemplate, map[string]any) {
	text, err := os.ReadFile(filepath.Join(os.Getenv("AEM_PROJECT"), "deploy/rollouts/argo", name))
	require.NoError(t, err)
	first := strings.Split(string(text), "\n---\n")[0]
	template, plain := &v1alpha1.AnalysisTemplate{}, map[string]any{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(first), template))
	require.NoError(t, yaml.Unmarshal([]byte(first), &plain))
	return template, plain["spec"].(map[string]any)
}

func runOf(t *testing.T, template *v1alpha1.AnalysisTemplate) *v1alpha1.AnalysisRun {
	baseline, candidate := "6c8f9d", "7d9fbc"
	args := []v1alpha1.Argument{{Name: "baseline", Value: &baseline}, {Name: "candidate", Value: &candidate}}
	run, err := analysisutil.NewAnalysisRunFromTemplates(
		[]*v1alpha1.AnalysisTemplate{template.DeepCopy()}, nil, args, nil, nil, nil, nil, "run", "", "agents")
	require.NoError(t, err)
	run.UID = "0b1c"
	return run
}

// realProviders are those that the controller has in a cluster.
func realProviders(f *fixture, c *Controller, kube kubeinformers.SharedInformerFactory) {
	factory := metricproviders.ProviderFactory{
		KubeClient:    f.kubeclient,
		JobLister:     kube.Batch().V1().Jobs().Lister(),
		JobPodsLister: kube.Core().V1().Pods().Lister(),
	}
	c.newProvider = factory.NewProvider
}

type outcome struct {
	Looks        []look                 `json:"looks"`
	Phase        v1alpha1.AnalysisPhase `json:"phase"`
	Measurements int                    `json:"measurements"`
}

func web(t *testing.T) map[string]any {
	template, spec := documentsOf(t, "analysis-web.yaml")
	var said answer
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		asked = request.URL.RequestURI()
		if said.Status == 0 {
			panic(http.ErrAbortHandler)
		}
		writer.Header().Set("Content-Type", said.Type)
		writer.WriteHeader(said.Status)
		_, _ = writer.Write([]byte(said.Body))
	}))
	defer server.Close()

	start := func() (*fixture, *Controller, *v1alpha1.AnalysisRun) {
		f := newFixture(t)
		c, _, kube := f.newController(noResyncPeriodFunc)
		realProviders(f, c, kube)
		run := runOf(t, template)
		run.Spec.Metrics[0].Provider.Web.URL = strings.Replace(run.Spec.Metrics[0].Provider.Web.URL, monitor, server.URL, 1)
		return f, c, run
	}

	measurements := map[string]any{}
	for name, one := range answers {
		f, c, run := start()
		said = one
		run = c.reconcileAnalysisRun(run)
		measured := run.Status.MetricResults[0].Measurements[0]
		measurements[name] = map[string]any{"answer": one, "phase": measured.Phase}
		f.Close()
	}

	play := func(f *fixture, c *Controller, run *v1alpha1.AnalysisRun, looks []look) outcome {
		taken := 0
		for _, one := range looks {
			said = answers[one.Answer]
			for range one.Times {
				require.False(t, run.Status.Phase.Completed(), "%v", looks)
				run = c.reconcileAnalysisRun(run)
				f.now = f.now.Add(61 * time.Second)
				taken++
			}
		}
		return outcome{looks, run.Status.Phase, taken}
	}
	var found, older []outcome
	for _, looks := range runs {
		f, c, run := start()
		found = append(found, play(f, c, run, looks))
		f.Close()
		require.Equal(t, "/api/v1/canary?baseline=6c8f9d&candidate=7d9fbc", asked)
	}
	// A controller before 1.8 drops the field that it does not know.
	for _, looks := range [][]look{{{"not_enough_evidence", 30}}, {{"not_enough_evidence", 29}, {"pass", 1}}} {
		f, c, run := start()
		run.Spec.Metrics[0].ConsecutiveSuccessLimit = nil
		older = append(older, play(f, c, run, looks))
		f.Close()
	}

	f, c, run := start()
	defer f.Close()
	for i, arg := range run.Spec.Args {
		if arg.Name == "authorization" {
			reference := &v1alpha1.SecretKeyRef{Name: "aem-monitor-api", Key: "authorization"}
			run.Spec.Args[i] = v1alpha1.Argument{Name: arg.Name, ValueFrom: &v1alpha1.ValueFrom{SecretKeyRef: reference}}
		}
	}
	run = c.reconcileAnalysisRun(run)
	return map[string]any{
		"spec": spec, "measurements": measurements, "runs": found, "runs_before_1.8": older,
		"run_without_its_secret": run.Status.Phase,
	}
}

func job(t *testing.T) map[string]any {
	template, spec := documentsOf(t, "analysis-job.yaml")
	found := map[string]v1alpha1.AnalysisPhase{}
	condition := func(kind batchv1.JobConditionType) func(*fixture, kubeinformers.SharedInformerFactory, *batchv1.Job) {
		return func(_ *fixture, kube kubeinformers.SharedInformerFactory, one *batchv1.Job) {
			one.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue}}
		}
	}
	for name, change := range map[string]func(*fixture, kubeinformers.SharedInformerFactory, *batchv1.Job){
		"complete": condition(batchv1.JobComplete),
		"failed":   condition(batchv1.JobFailed),
		"running":  func(*fixture, kubeinformers.SharedInformerFactory, *batchv1.Job) {},
		"image cannot be had": func(_ *fixture, kube kubeinformers.SharedInformerFactory, one *batchv1.Job) {
			waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: one.Namespace, Name: "pod", Labels: map[string]string{"job": "one"}},
				Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "watch", State: waiting}}},
			}
			require.NoError(t, kube.Core().V1().Pods().Informer().GetIndexer().Add(pod))
		},
	} {
		f := newFixture(t)
		c, _, kube := f.newController(noResyncPeriodFunc)
		realProviders(f, c, kube)
		run := c.reconcileAnalysisRun(runOf(t, template))
		jobs, err := f.kubeclient.BatchV1().Jobs("agents").List(context.Background(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, jobs.Items, 1)
		one := &jobs.Items[0]
		one.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"job": "one"}}
		change(f, kube, one)
		require.NoError(t, kube.Batch().V1().Jobs().Informer().GetIndexer().Add(one))
		for range 20 {
			f.now = f.now.Add(time.Hour)
			run = c.reconcileAnalysisRun(run)
		}
		found[name] = run.Status.Phase
		f.Close()
	}
	f := newFixture(t)
	defer f.Close()
	c, _, kube := f.newController(noResyncPeriodFunc)
	realProviders(f, c, kube)
	f.kubeclient.PrependReactor("create", "jobs", func(core.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("exceeded quota")
	})
	run := runOf(t, template)
	for range 100 {
		run = c.reconcileAnalysisRun(run)
		f.now = f.now.Add(time.Minute)
	}
	found["cannot be created"] = run.Status.Phase
	metric := spec["metrics"].([]any)[0].(map[string]any)
	delete(metric["provider"].(map[string]any)["job"].(map[string]any)["spec"].(map[string]any), "template")
	return map[string]any{"spec": spec, "runs": found}
}

func TestPhasesOfTheTemplates(t *testing.T) {
	text, err := json.MarshalIndent(map[string]any{"argo_rollouts": version, "web": web(t), "job": job(t)}, "", "  ")
	require.NoError(t, err)
	path := filepath.Join(os.Getenv("AEM_PROJECT"), "tests/deploy/argo/phases.json")
	require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o644))
}
