"""How every adapter shows an answer: words, harmless Markdown, drafts; and what people do with it by button."""
