//! `step47 demo`
