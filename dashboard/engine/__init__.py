"""Worker processes, the runs that live on them, and the client through which the page process reaches both."""
