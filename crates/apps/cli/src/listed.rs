//! The cases of a list, judged one after the other and shown as they are.

use std::sync::atomic::Ordering;
use std::sync::mpsc;

use crate::exit::Stop;
use crate::limits::Reached;
use crate::progress::Progress;
use crate::session::Session;
use crate::text::Tone;

/// Runs `work`, which gives the report of each of `all` cases with a line about it; the line is shown where `tone` has
/// one for it. Returns the reports, and the limit that was reached meanwhile.
///
/// # Errors
/// The output is closed; then no further case is judged.
pub fn judged<R: Send + 'static>(
    session: &mut Session<'_>,
    all: usize,
    tone: impl Fn(&R) -> Option<Tone>,
    work: impl FnOnce(&mut dyn FnMut(R, String)) + Send + 'static,
) -> Result<(Vec<R>, Option<Reached>), Stop> {
    let (progress, limits) = (Progress::new(all as u64), session.limits.clone());
    let (sender, judged) = mpsc::channel();
    // The receiver is gone where the command has ended.
    let work = move || work(&mut |report, line| drop(sender.send((report, line))));
    let (mut reports, mut said) = (Vec::new(), Ok(()));
    let ended = limits.watched(work, &mut || {
        for (report, line) in judged.try_iter() {
            progress.step();
            if let Some(tone) = tone(&report).filter(|_| !session.json && said.is_ok()) {
                said = progress.aside(|| session.line(session.style.paint(tone, &line)));
                if said.is_err() {
                    limits.cancelled.store(true, Ordering::Relaxed);
                }
            }
            reports.push(report);
        }
    });
    drop(progress);
    said?;
    Ok((reports, ended.err().or_else(|| limits.reached())))
}
