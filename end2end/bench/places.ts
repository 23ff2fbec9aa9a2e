// Where the measurements look on a page: adapt these when the pages change.
export const PLACES = {
  /** The run's timeline. */
  timeline: ".timeline, .run-strip",
  /** A step in the list of steps. */
  step: ".step-row",
  /** What scrolls through the steps; the page itself where this is missing. */
  scroller: ".steps-scroll",
  /** Says "live" once the page follows. */
  connection: "header [role=status]",
  /** On a run's page: "Running step 12". */
  headline: ".run-headline .pill",
  /** A changed value in a diff. */
  change: ".diff-added",
  /** In a row of the list: "running 12 · fetch_page". */
  now: ".cell-now",
} as const;

/** The number of the step where a run is, in either of the two places. */
export const AT_STEP = "(?:step|running) ([\\d,]+)";
