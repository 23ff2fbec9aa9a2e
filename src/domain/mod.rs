//! The nouns of Step47 and the rules between them: no I/O, shared by server, browser and agents.
