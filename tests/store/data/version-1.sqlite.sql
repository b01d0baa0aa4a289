BEGIN TRANSACTION;
CREATE TABLE answers (
	"key" TEXT NOT NULL, 
	scorer TEXT NOT NULL, 
	score DOUBLE NOT NULL, 
	stored_at DOUBLE NOT NULL, 
	PRIMARY KEY ("key", scorer)
);
INSERT INTO "answers" VALUES('k1','judge:small',0.25,1300.0);
CREATE TABLE positions (
	replica TEXT NOT NULL, 
	topic TEXT NOT NULL, 
	partition INTEGER NOT NULL, 
	"offset" BIGINT NOT NULL, 
	PRIMARY KEY (replica, topic, partition)
);
INSERT INTO "positions" VALUES('monitor-0','otlp_spans',0,42);
CREATE TABLE provisional_runs (
	run_id TEXT NOT NULL, 
	stored_at DOUBLE NOT NULL, 
	result TEXT NOT NULL, 
	turns TEXT NOT NULL, 
	PRIMARY KEY (run_id)
);
INSERT INTO "provisional_runs" VALUES('7942e6a58a6b5bc269eb5a30dc2d321e',1200.0,'{"run_id":"7942e6a58a6b5bc269eb5a30dc2d321e","conversation_key":"c-4","conversation_id":"c-4","agent":"a","dialog":"d","dialog_version":1,"play":1,"release":"1.0","model":"m","draft":false,"success_rate":1.0,"test_pass":true,"score":1.0,"first_failure_turn":null,"first_failure_extra":false,"root_cause":null,"root_cause_count":0,"cascading_count":0,"complete":true,"partial":false,"started_ns":0,"ended_ns":2000000000,"latency_seconds":2.0,"trace_ids":["00000000000000000000000000000001"],"recognised_by":"text","variant":null,"outcome":null,"revision":0}','["{\"turn_no\":2,\"kind\":\"tool\",\"exchange\":0,\"chain_length\":1,\"success\":true,\"failure_reason\":null,\"detail\":null,\"root_cause\":false,\"basis\":\"none\",\"blames\":[],\"fields\":[],\"not_scored\":null,\"required\":true,\"tool\":\"reports\",\"action\":\"FilterData\",\"called\":\"reports.FilterData\",\"expected\":{\"call\":\"reports.FilterData\",\"args\":{\"region\":\"EU\"}},\"actual\":{\"call\":\"reports.FilterData\",\"args\":{\"region\":\"EU\"}},\"span_id\":\"0000000000000001\",\"trace_id\":\"00000000000000000000000000000001\",\"release\":\"1.0\",\"model\":\"m\",\"latency_seconds\":0.5,\"attempts\":1,\"recovered\":false,\"alternate\":null,\"checks\":[{\"submetric\":\"structural\",\"subject\":\"tool\",\"passed\":true,\"field\":null,\"reason\":null,\"cause\":null,\"expected\":\"reports\",\"actual\":\"reports\",\"score\":1.0,\"uncertain\":false,\"rule\":null,\"explained_by\":[],\"basis\":\"none\"},{\"submetric\":\"structural\",\"subject\":\"action\",\"passed\":true,\"field\":null,\"reason\":null,\"cause\":null,\"expected\":\"FilterData\",\"actual\":\"FilterData\",\"score\":1.0,\"uncertain\":false,\"rule\":null,\"explained_by\":[],\"basis\":\"none\"},{\"submetric\":\"completeness\",\"subject\":\"arguments\",\"passed\":true,\"field\":null,\"reason\":null,\"cause\":null,\"expected\":null,\"actual\":null,\"score\":1.0,\"uncertain\":false,\"rule\":null,\"explained_by\":[],\"basis\":\"none\"},{\"submetric\":\"truthfulness\",\"subject\":\"value\",\"passed\":true,\"field\":\"region\",\"reason\":null,\"cause\":null,\"expected\":\"EU\",\"actual\":\"EU\",\"score\":1.0,\"uncertain\":false,\"rule\":\"exact\",\"explained_by\":[],\"basis\":\"none\"}]}","{\"turn_no\":3,\"kind\":\"response\",\"exchange\":0,\"chain_length\":1,\"success\":true,\"failure_reason\":null,\"detail\":null,\"root_cause\":false,\"basis\":\"none\",\"blames\":[],\"fields\":[],\"not_scored\":null,\"required\":true,\"tool\":null,\"action\":null,\"called\":null,\"expected\":\"Done.\",\"actual\":\"Done.\",\"span_id\":\"0000000000000063\",\"trace_id\":\"00000000000000000000000000000001\",\"release\":\"1.0\",\"model\":\"m\",\"latency_seconds\":2.0,\"attempts\":1,\"recovered\":false,\"alternate\":null,\"checks\":[{\"submetric\":\"truthfulness\",\"subject\":\"reply\",\"passed\":true,\"field\":null,\"reason\":null,\"cause\":null,\"expected\":null,\"actual\":null,\"score\":1.0,\"uncertain\":false,\"rule\":null,\"explained_by\":[],\"basis\":\"none\"},{\"submetric\":\"completeness\",\"subject\":\"reply\",\"passed\":true,\"field\":null,\"reason\":null,\"cause\":null,\"expected\":null,\"actual\":null,\"score\":1.0,\"uncertain\":false,\"rule\":null,\"explained_by\":[],\"basis\":\"none\"}]}"]');
CREATE TABLE releases_seen (
	agent TEXT NOT NULL, 
	release TEXT NOT NULL, 
	model TEXT NOT NULL, 
	first_seen DOUBLE NOT NULL, 
	last_seen DOUBLE NOT NULL, 
	PRIMARY KEY (agent, release, model)
);
INSERT INTO "releases_seen" VALUES('a','1.0','m',1000.0,1012.0);
CREATE TABLE run_traces (
	trace_id TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	stored_at DOUBLE NOT NULL, 
	PRIMARY KEY (trace_id, run_id)
);
INSERT INTO "run_traces" VALUES('00000000000000000000000000000001','5eb3fbaf1e0104dd1abc675e2ee87a99',1010.0);
INSERT INTO "run_traces" VALUES('00000000000000000000000000000001','6226be901ecbfe33f1cd965607b38a49',1011.0);
INSERT INTO "run_traces" VALUES('00000000000000000000000000000001','26d37f098ba6f0608a2836fbfc880c5a',1012.0);
CREATE TABLE runs (
	run_id TEXT NOT NULL, 
	dialog_version INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	latest BOOLEAN NOT NULL, 
	cause TEXT NOT NULL, 
	replica TEXT NOT NULL, 
	dialog TEXT NOT NULL, 
	agent TEXT NOT NULL, 
	release TEXT, 
	model TEXT, 
	conversation_key TEXT NOT NULL, 
	conversation_id TEXT, 
	play INTEGER NOT NULL, 
	draft BOOLEAN NOT NULL, 
	outcome TEXT NOT NULL, 
	success_rate DOUBLE, 
	root_cause TEXT, 
	started_ns BIGINT NOT NULL, 
	ended_ns BIGINT NOT NULL, 
	final_at DOUBLE NOT NULL, 
	stored_at DOUBLE NOT NULL, 
	result TEXT NOT NULL, 
	PRIMARY KEY (run_id, dialog_version, revision)
);
INSERT INTO "runs" VALUES('5eb3fbaf1e0104dd1abc675e2ee87a99',1,0,1,'final','monitor-0','d','a','1.0','m','c-1','c-1',1,0,'pass',1.0,NULL,0,2000000000,1010.0,1010.0,'{"run_id":"5eb3fbaf1e0104dd1abc675e2ee87a99","conversation_key":"c-1","conversation_id":"c-1","agent":"a","dialog":"d","dialog_version":1,"play":1,"release":"1.0","model":"m","draft":false,"success_rate":1.0,"test_pass":true,"score":1.0,"first_failure_turn":null,"first_failure_extra":false,"root_cause":null,"root_cause_count":0,"cascading_count":0,"complete":true,"partial":false,"started_ns":0,"ended_ns":2000000000,"latency_seconds":2.0,"trace_ids":["00000000000000000000000000000001"],"recognised_by":"text","variant":null,"outcome":null,"revision":0}');
INSERT INTO "runs" VALUES('6226be901ecbfe33f1cd965607b38a49',1,0,1,'final','monitor-0','d','a','1.0','m','c-2','c-2',1,0,'fail',0.5,'inconsistent_parameter_values',0,2000000000,1011.0,1011.0,'{"run_id":"6226be901ecbfe33f1cd965607b38a49","conversation_key":"c-2","conversation_id":"c-2","agent":"a","dialog":"d","dialog_version":1,"play":1,"release":"1.0","model":"m","draft":false,"success_rate":0.5,"test_pass":false,"score":0.5,"first_failure_turn":2,"first_failure_extra":false,"root_cause":"inconsistent_parameter_values","root_cause_count":1,"cascading_count":0,"complete":true,"partial":false,"started_ns":0,"ended_ns":2000000000,"latency_seconds":2.0,"trace_ids":["00000000000000000000000000000001"],"recognised_by":"text","variant":null,"outcome":null,"revision":0}');
INSERT INTO "runs" VALUES('26d37f098ba6f0608a2836fbfc880c5a',1,0,0,'final','monitor-0','d','a','1.0','m','c-3','c-3',1,0,'pass',1.0,NULL,0,2000000000,1012.0,1012.0,'{"run_id":"26d37f098ba6f0608a2836fbfc880c5a","conversation_key":"c-3","conversation_id":"c-3","agent":"a","dialog":"d","dialog_version":1,"play":1,"release":"1.0","model":"m","draft":false,"success_rate":1.0,"test_pass":true,"score":1.0,"first_failure_turn":null,"first_failure_extra":false,"root_cause":null,"root_cause_count":0,"cascading_count":0,"complete":true,"partial":false,"started_ns":0,"ended_ns":2000000000,"latency_seconds":2.0,"trace_ids":["00000000000000000000000000000001"],"recognised_by":"text","variant":null,"outcome":null,"revision":0}');
INSERT INTO "runs" VALUES('26d37f098ba6f0608a2836fbfc880c5a',1,1,1,'late_span','monitor-0','d','a','1.0','m','c-3','c-3',1,0,'fail',0.5,'inconsistent_parameter_values',0,2000000000,1012.0,1100.0,'{"run_id":"26d37f098ba6f0608a2836fbfc880c5a","conversation_key":"c-3","conversation_id":"c-3","agent":"a","dialog":"d","dialog_version":1,"play":1,"release":"1.0","model":"m","draft":false,"success_rate":0.5,"test_pass":false,"score":0.5,"first_failure_turn":2,"first_failure_extra":false,"root_cause":"inconsistent_parameter_values","root_cause_count":1,"cascading_count":0,"complete":true,"partial":false,"started_ns":0,"ended_ns":2000000000,"latency_seconds":2.0,"trace_ids":["00000000000000000000000000000001"],"recognised_by":"text","variant":null,"outcome":null,"revision":1}');
CREATE TABLE schema_versions (
	version INTEGER NOT NULL, 
	description TEXT NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "schema_versions" VALUES(1,'created');
CREATE TABLE totals (
	replica TEXT NOT NULL, 
	metric TEXT NOT NULL, 
	labels_digest TEXT NOT NULL, 
	bucket TEXT NOT NULL, 
	labels TEXT NOT NULL, 
	value DOUBLE NOT NULL, 
	observations BIGINT NOT NULL, 
	PRIMARY KEY (replica, metric, labels_digest, bucket)
);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','da02bcce5605970305653051ccbb9743ef977ea7261a5c3c8136a66fc5248334','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","0"],["kind","tool"],["result","pass"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','897fe4f052909ce2b4eb77126d0089f62b1823c0dc65560148b35579585d0146','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","0"],["kind","tool"],["result","root"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','53dc070f8b36baf1e163c49d3332cf15d0d6a543d01b71ebdc49860b0b62a234','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","0"],["kind","tool"],["result","cascade"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','6158df3b87ac7c5a3148cba773c0d266421dd3f2f753aa4bd4eb8eca85564302','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","0"],["kind","tool"],["result","not_scored"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','55b9dfd91b48aa2c0b596e514985c1598753477c46ec4a6356480a8b6572a969','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","0"],["kind","response"],["result","pass"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','5c2bce5f48309a7b9e032a03bab32341c4dc81c04cb0ec872123e7fe7bcbd3dd','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","0"],["kind","response"],["result","root"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','788c77a4cc6eef6df9b4dd262166e800f9e5c2869b51c1d6ef668154e51ec0e4','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","0"],["kind","response"],["result","cascade"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','9faaaf9a31e10c63fc8de03fa36113d390915f9bf43178bcf72777ffdc2f49c8','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","0"],["kind","response"],["result","not_scored"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','0e9c629403291b4e5cf65d2f2ffb08e9bb9b8433547b1292afdef03e31431218','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","1"],["kind","tool"],["result","pass"]]',2.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','7d08566206b43138333226ebb3ba6268637d87a7a37fea945d56f50a0d12f89e','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","1"],["kind","tool"],["result","root"]]',1.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','4fe916aa5c30df707329e6c9dca86595bb2534c0c561c7db7f3266e68efcd3b2','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","1"],["kind","tool"],["result","cascade"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','180775c63a6a1ceeee746b1599462116d1d12ffa69bb177cfbae0172f0177a91','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","1"],["kind","tool"],["result","not_scored"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','6bba8ac054e05af206e74ac0c90def52d5b84f4952d43914480237fd753e799c','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","1"],["kind","response"],["result","pass"]]',3.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','97d09618db426ab43a7ea317972288bb52f2e726e2b96a277bea5c6d4944de05','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","1"],["kind","response"],["result","root"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','fa2e25cd15ccba8798ff738988244af57b11f5801722ceb67fdb88cbf39cad15','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","1"],["kind","response"],["result","cascade"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','2e5373f01b02ff1b87578a1bd3e88f3d57dd6888dcd65088be5ab9dfc6e2fcfb','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","1"],["kind","response"],["result","not_scored"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','ee932e68f014987fa004c16e67ea9b9e6fa2f001fb8a9bec2a3715f99eab7a4d','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","2"],["kind","tool"],["result","pass"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','42ae512850bbdb6329e4badeb62b65d88c148310b3633ab5edc135a5064b8ed9','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","2"],["kind","tool"],["result","root"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','34e665426fdfb61a513b7c702c354294251b57e20ba8e1d4b9e2b0504c5cc4fb','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","2"],["kind","tool"],["result","cascade"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','20e20c878e78bdb482aed34ef1b4e859afc8ff7dfea6903567fce1abce7f787f','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","2"],["kind","tool"],["result","not_scored"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','27e28440cab791da669f428f85997a66a29ba557245f7b9c2a2901d3e9ef57b6','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","2"],["kind","response"],["result","pass"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','30240afc88031fc5452ac40864dc3c036ecf0bf8b715467bc8fcf8846f0f7186','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","2"],["kind","response"],["result","root"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','851f0f03c6960ed147d426334b5484e91a1a9d4289f01ccdd4763bd27c61c865','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","2"],["kind","response"],["result","cascade"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','ddab3042350827c8ab1d166b74b6dbe590eaee413a2f21fb464effefc544de7d','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","2"],["kind","response"],["result","not_scored"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','22204544f87c371cf48babfd76e315cca0ca0814316123b45ef8a1d6caab162b','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","3+"],["kind","tool"],["result","pass"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','075ca8773f4302104c1443d42922e0c5ce67d8e84ee06b9c951abe9bf315ac06','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","3+"],["kind","tool"],["result","root"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','ab274f7a74bff08cf2a8ffe1e598d3180c778033bc37023e607a12e3f386ca85','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","3+"],["kind","tool"],["result","cascade"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','65650900f9a5ebddc076b40b9f25a1bbe2b01b0fe1ad2e707f605d09cde3bc20','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","3+"],["kind","tool"],["result","not_scored"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','36ac8de196a0bea824e531a9fd573f80e1464a25c758179f2bf7330ba6c58183','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","3+"],["kind","response"],["result","pass"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','27dfb4abfe228daee576f40f399273967d6b3f6e03d710dfe3740bd5468882cd','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","3+"],["kind","response"],["result","root"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','a1fbcfd000644d0871f5e2a10550c8bc1ce0a62d8acf7bd8381b861ded8fed3a','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","3+"],["kind","response"],["result","cascade"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_turns_total','968fc53d792530ac8f93227c494902f1aa58ab6714252c188e7f30010436c71b','','[["agent","a"],["release","1.0"],["model","m"],["chain_length","3+"],["kind","response"],["result","not_scored"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_runs_total','cc0358996cc0b4d8e5d743ce873cbc8fc612cd3779b5639d175dfa8c962c1066','','[["agent","a"],["release","1.0"],["model","m"],["dialog","d"],["result","pass"]]',2.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_runs_total','f4bceae5ba068e1b9d5ea668dac9bd370a5035f2e05b3918f2afd62b073ed8b1','','[["agent","a"],["release","1.0"],["model","m"],["dialog","d"],["result","fail"]]',1.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_runs_total','310d76b2ae646f1c83bb632d079602242c9fef4652ddb1af8a3ea6a3cf163e6e','','[["agent","a"],["release","1.0"],["model","m"],["dialog","d"],["result","undecided"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','91cd0d451658942bafa58058ebc2cd0314a8959e6a6fd2df833bb1e1e2407552','','[["agent","a"],["release","1.0"],["model","m"],["submetric","structural"],["result","pass"]]',3.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','e45f9cf9abe4fbf947061e7e9b9181ad5379c0846d6e7fa56d309ca9fe0df8b3','','[["agent","a"],["release","1.0"],["model","m"],["submetric","structural"],["result","fail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','69837f272a926e91db389e4feabe964cda96664831d5c04dc822fa0dfb40bef1','','[["agent","a"],["release","1.0"],["model","m"],["submetric","structural"],["result","inherited"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','a3b38e16d4dd7bfebb70c608b05a967cae254f3ec05b626e9eaad3f8b9891609','','[["agent","a"],["release","1.0"],["model","m"],["submetric","structural"],["result","not_scored"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','2b3710223058073ecf94bdf7982e5079ee79ec68dcdc2867b2d20a82fd8b81c2','','[["agent","a"],["release","1.0"],["model","m"],["submetric","completeness"],["result","pass"]]',6.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','f2ed2535dad476dac33ea258945d1d7d022805c9029530d62d8148a3506898a4','','[["agent","a"],["release","1.0"],["model","m"],["submetric","completeness"],["result","fail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','fce3a7322b6c437bfcde791177ba9351cac68658ea42d00a7b4d2a93d68c3a7b','','[["agent","a"],["release","1.0"],["model","m"],["submetric","completeness"],["result","inherited"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','4eb1c0ac6677c41fa4e8c57f2652dd2628073b40d38a520c91f1792070126856','','[["agent","a"],["release","1.0"],["model","m"],["submetric","completeness"],["result","not_scored"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','31abdf328ed465ccbd4fd36bffe888b38a309a50d77dff0c1d512cb5dea9a2c4','','[["agent","a"],["release","1.0"],["model","m"],["submetric","truthfulness"],["result","pass"]]',5.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','a8e7f9fea485126e6d7f5d8e2ed539f94a8455ff9a9388eec59b548ef93fbef7','','[["agent","a"],["release","1.0"],["model","m"],["submetric","truthfulness"],["result","fail"]]',1.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','d1dc571166980f04f16a59ff051ebd745f55e087008f6b3bcbf953bd59e3c815','','[["agent","a"],["release","1.0"],["model","m"],["submetric","truthfulness"],["result","inherited"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_submetric_results_total','d5530e408fd6288a58ecfc6b68571e35ab03a47c0fb78a4222d39c4e151204ad','','[["agent","a"],["release","1.0"],["model","m"],["submetric","truthfulness"],["result","not_scored"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','0b7eb3f4489484364bcfefe14f31cdac57642fd61a63c07b198ef654b30c21b7','','[["agent","a"],["release","1.0"],["model","m"],["reason","inconsistent_response"],["detail",""],["tool",""]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','587f68a5ff9855824efbe7788de535d10d66cab76ea459dcc8439d9d4ff123d5','','[["agent","a"],["release","1.0"],["model","m"],["reason","incomplete_response"],["detail",""],["tool",""]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','e4fc813594439d436db583b0ad84439bc5dbf4aeb4358d5426e9c1cfac121e93','','[["agent","a"],["release","1.0"],["model","m"],["reason","tool_mismatch"],["detail","unexpected_call"],["tool","other"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','2daf033bc1372db7d66dcaf12547ae9f0610c2ed0b7e00108d943295a9dda5b3','','[["agent","a"],["release","1.0"],["model","m"],["reason","tool_mismatch"],["detail","forbidden_call"],["tool","other"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','b84d2c98a75855677affecd0b3cd22616843624bffe94842c783cf26e169b387','','[["agent","a"],["release","1.0"],["model","m"],["reason","tool_mismatch"],["detail","wrong_tool"],["tool","mail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','e15eaca3bb33db4f8aa9b3bd46d9346486d85ff04ecc075b8942542e40faa98d','','[["agent","a"],["release","1.0"],["model","m"],["reason","tool_mismatch"],["detail","not_called"],["tool","mail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','4109966c6267778c43a33d105784caa5af792575080e7cfadc1d85812890399e','','[["agent","a"],["release","1.0"],["model","m"],["reason","tool_mismatch"],["detail","unexpected_call"],["tool","mail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','1a8af18da8bf171b3fc6a03efb5511c00405634d6b1c10b23800dadeb08a0327','','[["agent","a"],["release","1.0"],["model","m"],["reason","tool_mismatch"],["detail","forbidden_call"],["tool","mail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','02637210fc4cb7f0caaf67e57b8acea8b6bcb32313aaf957609a0f4075b39722','','[["agent","a"],["release","1.0"],["model","m"],["reason","action_mismatch"],["detail",""],["tool","mail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','88c26e0a2763bf8b925047977b875119095de57303135b4f20d1adb6388c7cb5','','[["agent","a"],["release","1.0"],["model","m"],["reason","missing_parameters"],["detail",""],["tool","mail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','90d481f90adfe9d8c444fa0c5a3b634d0393c4cc8169a86569b991344ad3bb96','','[["agent","a"],["release","1.0"],["model","m"],["reason","extra_parameters"],["detail",""],["tool","mail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','b5dac596b86b9dc61e900777fb51e2904bb0a515ed8f1ffcffc514e9e331d900','','[["agent","a"],["release","1.0"],["model","m"],["reason","inconsistent_parameter_values"],["detail",""],["tool","mail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','0d21e82f4bac771896d0d5e3fef8d92978685b74d3925df0d6cf402175287756','','[["agent","a"],["release","1.0"],["model","m"],["reason","tool_mismatch"],["detail","wrong_tool"],["tool","reports"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','82dfb7c1e5430474861743e24ca2a0fb52f72f8fc08e284407956ed305878f02','','[["agent","a"],["release","1.0"],["model","m"],["reason","tool_mismatch"],["detail","not_called"],["tool","reports"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','e264677eb0194f54c0b5d9b19d06152a2a088a12035649bffeaa3c69d815d4b3','','[["agent","a"],["release","1.0"],["model","m"],["reason","tool_mismatch"],["detail","unexpected_call"],["tool","reports"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','48c76b0aaf53aa884a94082afcd0fb91231474047a377291fd21d9def55a8eb0','','[["agent","a"],["release","1.0"],["model","m"],["reason","tool_mismatch"],["detail","forbidden_call"],["tool","reports"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','3480fdd9a5fb9faed1290649fa9a609819158d5c909dbbaa9b98d3864be8b5ee','','[["agent","a"],["release","1.0"],["model","m"],["reason","action_mismatch"],["detail",""],["tool","reports"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','1dd6792cedf1336bcb0362383b89138a609b87b73e5d875419e7ba482c09de0c','','[["agent","a"],["release","1.0"],["model","m"],["reason","missing_parameters"],["detail",""],["tool","reports"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','b3e1ab35e69288a76b118f1fbb3d9ad7fa9059e1c5ffd7f29892efbfe35c65c2','','[["agent","a"],["release","1.0"],["model","m"],["reason","extra_parameters"],["detail",""],["tool","reports"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_root_causes_total','744c2ae6b905436fea7fb9074169ae79ac22188f6eafe85650f721dca14b68f6','','[["agent","a"],["release","1.0"],["model","m"],["reason","inconsistent_parameter_values"],["detail",""],["tool","reports"]]',1.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_not_scored_total','48e976718e4cd5a5f2ffa4a4c2eceb3ad4a1a4c7cda5f47838558973e2de7aa6','','[["agent","a"],["cause","off_script"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_not_scored_total','f9082252d03af81390cab367a6dc5150a562e2579bab0d760230e5ce41331cc8','','[["agent","a"],["cause","content_missing"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_not_scored_total','a00fedea27fd2b327ba7b00f602b60f788d625144736f05200c7cf299ac1435f','','[["agent","a"],["cause","content_truncated"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_not_scored_total','50afec691efb65297f4b8dd47ebfcf068c5eb946103b001f4ef2ffdbf050bf70','','[["agent","a"],["cause","incomplete_trace"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_not_scored_total','4253aafe674a40504a4a11e2ce92772bb4c785af2dd25eef8ae3912c7956ae9c','','[["agent","a"],["cause","tool_error"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_not_scored_total','445ec60f025e317e07d3f17635da6c750e41d48a5d12059247133d885575b4eb','','[["agent","a"],["cause","upstream_error"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_not_scored_total','10e60615daa28485b040e1090304b0d29d1e0f03b33062739fadaa5aace62229','','[["agent","a"],["cause","not_reached"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_not_scored_total','eea3036a279357a4ae6ad9f1c20f4a2afd7151cb44cb6290588732d3670626b5','','[["agent","a"],["cause","scorer_error"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_not_scored_total','3f0db6b5cde16e4e3868ccabcd4041911bb1522f6daa78263684e90f916dce1f','','[["agent","a"],["cause","undetermined"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_not_scored_total','2fb9c8aff8efae96007be34e7530f4928ed072539e19b773f3ee44e3f73875eb','','[["agent","a"],["cause","partial"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_tool_errors_total','29d768779dfb23887e56683d38acb5d0c178b763c7bf77d508321f67e6a91526','','[["tool","mail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_tool_errors_total','94b531f0cbe559f7f1d22477291d7d05f251f743d9a417a15c340bd3d68b8690','','[["tool","reports"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_another_path_runs_total','9aa1e06573d9700ac4334ac1c61d978492e3eee8030ee6cade3521200acc7cf9','','[["agent","a"],["release","1.0"],["dialog","d"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_latency_correctness_count_total','681c9eaadb8be4c083babd0e8c324fd661247daeccf9e141fda57cbe9e79f700','','[["agent","a"],["release","1.0"]]',3.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_latency_correctness_latency_sum_total','681c9eaadb8be4c083babd0e8c324fd661247daeccf9e141fda57cbe9e79f700','','[["agent","a"],["release","1.0"]]',6.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_latency_correctness_success_sum_total','681c9eaadb8be4c083babd0e8c324fd661247daeccf9e141fda57cbe9e79f700','','[["agent","a"],["release","1.0"]]',2.5,0);
INSERT INTO "totals" VALUES('monitor-0','aem_latency_correctness_latency_square_sum_total','681c9eaadb8be4c083babd0e8c324fd661247daeccf9e141fda57cbe9e79f700','','[["agent","a"],["release","1.0"]]',12.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_latency_correctness_success_square_sum_total','681c9eaadb8be4c083babd0e8c324fd661247daeccf9e141fda57cbe9e79f700','','[["agent","a"],["release","1.0"]]',2.25,0);
INSERT INTO "totals" VALUES('monitor-0','aem_latency_correctness_product_sum_total','681c9eaadb8be4c083babd0e8c324fd661247daeccf9e141fda57cbe9e79f700','','[["agent","a"],["release","1.0"]]',5.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_run_latency_seconds','bcc65a0743430107885e5ef9ab170156821e323d7fff96503cc5206ede623c7b','','[["agent","a"],["release","1.0"],["result","pass"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_run_latency_seconds','50544159b7d9eadb727f24b9f095aec90df88d631e573068b59f7e7252f7d422','','[["agent","a"],["release","1.0"],["result","fail"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_run_latency_seconds','4fa3ad252ca6d73f266723f0e92630fae7b94927f55810f1d1e141910863177e','','[["agent","a"],["release","1.0"],["result","undecided"]]',0.0,0);
INSERT INTO "totals" VALUES('monitor-0','aem_run_latency_seconds','bcc65a0743430107885e5ef9ab170156821e323d7fff96503cc5206ede623c7b','2.5','[["agent","a"],["release","1.0"],["result","pass"]]',4.0,2);
INSERT INTO "totals" VALUES('monitor-0','aem_run_latency_seconds','50544159b7d9eadb727f24b9f095aec90df88d631e573068b59f7e7252f7d422','2.5','[["agent","a"],["release","1.0"],["result","fail"]]',2.0,1);
INSERT INTO "totals" VALUES('monitor-0','aem_verdict_revisions_total','0dbc30d6a1c35561e8cfc362516a81d1217ad221a8266ee328977dff6eee0d52','','[["cause","late_span"]]',1.0,0);
CREATE TABLE turns (
	run_id TEXT NOT NULL, 
	dialog_version INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	turn_no INTEGER, 
	kind TEXT NOT NULL, 
	success BOOLEAN, 
	root_cause BOOLEAN NOT NULL, 
	failure_reason TEXT, 
	detail TEXT, 
	not_scored TEXT, 
	tool TEXT, 
	action TEXT, 
	release TEXT, 
	model TEXT, 
	span_id TEXT, 
	trace_id TEXT, 
	verdict TEXT NOT NULL, 
	PRIMARY KEY (run_id, dialog_version, revision, position), 
	FOREIGN KEY(run_id, dialog_version, revision) REFERENCES runs (run_id, dialog_version, revision) ON DELETE CASCADE
);
INSERT INTO "turns" VALUES('5eb3fbaf1e0104dd1abc675e2ee87a99',1,0,0,2,'tool',1,0,NULL,NULL,NULL,'reports','FilterData','1.0','m','0000000000000001','00000000000000000000000000000001','{"turn_no":2,"kind":"tool","exchange":0,"chain_length":1,"success":true,"failure_reason":null,"detail":null,"root_cause":false,"basis":"none","blames":[],"fields":[],"not_scored":null,"required":true,"tool":"reports","action":"FilterData","called":"reports.FilterData","expected":{"call":"reports.FilterData","args":{"region":"EU"}},"actual":{"call":"reports.FilterData","args":{"region":"EU"}},"span_id":"0000000000000001","trace_id":"00000000000000000000000000000001","release":"1.0","model":"m","latency_seconds":0.5,"attempts":1,"recovered":false,"alternate":null,"checks":[{"submetric":"structural","subject":"tool","passed":true,"field":null,"reason":null,"cause":null,"expected":"reports","actual":"reports","score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"structural","subject":"action","passed":true,"field":null,"reason":null,"cause":null,"expected":"FilterData","actual":"FilterData","score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"completeness","subject":"arguments","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"truthfulness","subject":"value","passed":true,"field":"region","reason":null,"cause":null,"expected":"EU","actual":"EU","score":1.0,"uncertain":false,"rule":"exact","explained_by":[],"basis":"none"}]}');
INSERT INTO "turns" VALUES('5eb3fbaf1e0104dd1abc675e2ee87a99',1,0,1,3,'response',1,0,NULL,NULL,NULL,NULL,NULL,'1.0','m','0000000000000063','00000000000000000000000000000001','{"turn_no":3,"kind":"response","exchange":0,"chain_length":1,"success":true,"failure_reason":null,"detail":null,"root_cause":false,"basis":"none","blames":[],"fields":[],"not_scored":null,"required":true,"tool":null,"action":null,"called":null,"expected":"Done.","actual":"Done.","span_id":"0000000000000063","trace_id":"00000000000000000000000000000001","release":"1.0","model":"m","latency_seconds":2.0,"attempts":1,"recovered":false,"alternate":null,"checks":[{"submetric":"truthfulness","subject":"reply","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"completeness","subject":"reply","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"}]}');
INSERT INTO "turns" VALUES('6226be901ecbfe33f1cd965607b38a49',1,0,0,2,'tool',0,1,'inconsistent_parameter_values',NULL,NULL,'reports','FilterData','1.0','m','0000000000000001','00000000000000000000000000000001','{"turn_no":2,"kind":"tool","exchange":0,"chain_length":1,"success":false,"failure_reason":"inconsistent_parameter_values","detail":null,"root_cause":true,"basis":"none","blames":[],"fields":["region"],"not_scored":null,"required":true,"tool":"reports","action":"FilterData","called":"reports.FilterData","expected":{"call":"reports.FilterData","args":{"region":"EU"}},"actual":{"call":"reports.FilterData","args":{"region":"US"}},"span_id":"0000000000000001","trace_id":"00000000000000000000000000000001","release":"1.0","model":"m","latency_seconds":0.5,"attempts":1,"recovered":false,"alternate":null,"checks":[{"submetric":"structural","subject":"tool","passed":true,"field":null,"reason":null,"cause":null,"expected":"reports","actual":"reports","score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"structural","subject":"action","passed":true,"field":null,"reason":null,"cause":null,"expected":"FilterData","actual":"FilterData","score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"completeness","subject":"arguments","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"truthfulness","subject":"value","passed":false,"field":"region","reason":"inconsistent_parameter_values","cause":null,"expected":"EU","actual":"US","score":0.0,"uncertain":false,"rule":"words","explained_by":[],"basis":"none"}]}');
INSERT INTO "turns" VALUES('6226be901ecbfe33f1cd965607b38a49',1,0,1,3,'response',1,0,NULL,NULL,NULL,NULL,NULL,'1.0','m','0000000000000063','00000000000000000000000000000001','{"turn_no":3,"kind":"response","exchange":0,"chain_length":1,"success":true,"failure_reason":null,"detail":null,"root_cause":false,"basis":"none","blames":[],"fields":[],"not_scored":null,"required":true,"tool":null,"action":null,"called":null,"expected":"Done.","actual":"Done.","span_id":"0000000000000063","trace_id":"00000000000000000000000000000001","release":"1.0","model":"m","latency_seconds":2.0,"attempts":1,"recovered":false,"alternate":null,"checks":[{"submetric":"truthfulness","subject":"reply","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"completeness","subject":"reply","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"}]}');
INSERT INTO "turns" VALUES('26d37f098ba6f0608a2836fbfc880c5a',1,0,0,2,'tool',1,0,NULL,NULL,NULL,'reports','FilterData','1.0','m','0000000000000001','00000000000000000000000000000001','{"turn_no":2,"kind":"tool","exchange":0,"chain_length":1,"success":true,"failure_reason":null,"detail":null,"root_cause":false,"basis":"none","blames":[],"fields":[],"not_scored":null,"required":true,"tool":"reports","action":"FilterData","called":"reports.FilterData","expected":{"call":"reports.FilterData","args":{"region":"EU"}},"actual":{"call":"reports.FilterData","args":{"region":"EU"}},"span_id":"0000000000000001","trace_id":"00000000000000000000000000000001","release":"1.0","model":"m","latency_seconds":0.5,"attempts":1,"recovered":false,"alternate":null,"checks":[{"submetric":"structural","subject":"tool","passed":true,"field":null,"reason":null,"cause":null,"expected":"reports","actual":"reports","score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"structural","subject":"action","passed":true,"field":null,"reason":null,"cause":null,"expected":"FilterData","actual":"FilterData","score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"completeness","subject":"arguments","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"truthfulness","subject":"value","passed":true,"field":"region","reason":null,"cause":null,"expected":"EU","actual":"EU","score":1.0,"uncertain":false,"rule":"exact","explained_by":[],"basis":"none"}]}');
INSERT INTO "turns" VALUES('26d37f098ba6f0608a2836fbfc880c5a',1,0,1,3,'response',1,0,NULL,NULL,NULL,NULL,NULL,'1.0','m','0000000000000063','00000000000000000000000000000001','{"turn_no":3,"kind":"response","exchange":0,"chain_length":1,"success":true,"failure_reason":null,"detail":null,"root_cause":false,"basis":"none","blames":[],"fields":[],"not_scored":null,"required":true,"tool":null,"action":null,"called":null,"expected":"Done.","actual":"Done.","span_id":"0000000000000063","trace_id":"00000000000000000000000000000001","release":"1.0","model":"m","latency_seconds":2.0,"attempts":1,"recovered":false,"alternate":null,"checks":[{"submetric":"truthfulness","subject":"reply","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"completeness","subject":"reply","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"}]}');
INSERT INTO "turns" VALUES('26d37f098ba6f0608a2836fbfc880c5a',1,1,0,2,'tool',0,1,'inconsistent_parameter_values',NULL,NULL,'reports','FilterData','1.0','m','0000000000000001','00000000000000000000000000000001','{"turn_no":2,"kind":"tool","exchange":0,"chain_length":1,"success":false,"failure_reason":"inconsistent_parameter_values","detail":null,"root_cause":true,"basis":"none","blames":[],"fields":["region"],"not_scored":null,"required":true,"tool":"reports","action":"FilterData","called":"reports.FilterData","expected":{"call":"reports.FilterData","args":{"region":"EU"}},"actual":{"call":"reports.FilterData","args":{"region":"US"}},"span_id":"0000000000000001","trace_id":"00000000000000000000000000000001","release":"1.0","model":"m","latency_seconds":0.5,"attempts":1,"recovered":false,"alternate":null,"checks":[{"submetric":"structural","subject":"tool","passed":true,"field":null,"reason":null,"cause":null,"expected":"reports","actual":"reports","score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"structural","subject":"action","passed":true,"field":null,"reason":null,"cause":null,"expected":"FilterData","actual":"FilterData","score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"completeness","subject":"arguments","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"truthfulness","subject":"value","passed":false,"field":"region","reason":"inconsistent_parameter_values","cause":null,"expected":"EU","actual":"US","score":0.0,"uncertain":false,"rule":"words","explained_by":[],"basis":"none"}]}');
INSERT INTO "turns" VALUES('26d37f098ba6f0608a2836fbfc880c5a',1,1,1,3,'response',1,0,NULL,NULL,NULL,NULL,NULL,'1.0','m','0000000000000063','00000000000000000000000000000001','{"turn_no":3,"kind":"response","exchange":0,"chain_length":1,"success":true,"failure_reason":null,"detail":null,"root_cause":false,"basis":"none","blames":[],"fields":[],"not_scored":null,"required":true,"tool":null,"action":null,"called":null,"expected":"Done.","actual":"Done.","span_id":"0000000000000063","trace_id":"00000000000000000000000000000001","release":"1.0","model":"m","latency_seconds":2.0,"attempts":1,"recovered":false,"alternate":null,"checks":[{"submetric":"truthfulness","subject":"reply","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"},{"submetric":"completeness","subject":"reply","passed":true,"field":null,"reason":null,"cause":null,"expected":null,"actual":null,"score":1.0,"uncertain":false,"rule":null,"explained_by":[],"basis":"none"}]}');
CREATE INDEX runs_newest ON runs (latest, final_at, run_id);
CREATE INDEX runs_release ON runs (agent, release, final_at);
CREATE INDEX runs_dialog ON runs (dialog, ended_ns);
CREATE INDEX runs_conversation ON runs (agent, conversation_key);
CREATE INDEX run_traces_run ON run_traces (run_id);
COMMIT;
