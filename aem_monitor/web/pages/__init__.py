"""Pages for people, on the admin listener: plain HTML that works without JavaScript."""
