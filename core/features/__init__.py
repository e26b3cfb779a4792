"""Documents that come by chat: files sent with a question, answers that people keep."""
