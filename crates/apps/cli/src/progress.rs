//! How far a command is, shown on standard error while that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress line on standard error, which is removed when this is dropped.
pub struct Progress(ProgressBar);

impl Progress {
    /// `steps` steps, none of which is done. Nothing is shown where standard error is not a terminal.
    pub fn new(steps: u64) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        let template = "{spinner} {bar:24} {human_pos} of {human_len}  {elapsed}  {msg}";
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Progress(bar)
    }

    /// Shows what the next step does.
    pub fn doing(&self, what: impl Into<String>) {
        if !self.0.is_hidden() {
            self.0.set_message(what.into());
        }
    }

    /// Shows that `done` steps of `all` are done.
    pub fn at(&self, done: u64, all: u64) {
        self.0.set_length(all);
        self.0.set_position(done);
    }

    /// Shows that one more step is done.
    pub fn step(&self) {
        self.0.inc(1);
    }

    /// Runs `write` without the line in its way.
    pub fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.0.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
