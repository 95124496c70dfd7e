//! Makes failing cases small, by simpler choices for the generator.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::generate::{Made, make};
use crate::profile::Profile;
use crate::random::{Choices, Random};

/// The smallest case found within the time that still fails, where `still_fails` says whether one does, beginning with
/// the case of this seed.
///
/// It tries fewer choices, and smaller ones: without a statement or an expression, with a part of one in its place, and
/// with single choices nearer to 0. What the generator promises holds for each case that is tried.
pub fn shrink(seed: u64, profile: &Profile, time: Duration, mut still_fails: impl FnMut(&Case) -> bool) -> Case {
    let best = make(profile, Random::seeded(seed));
    let end = Instant::now().checked_add(time);
    let mut shrinker = Shrinker { profile, best, still_fails: &mut still_fails, tried: HashSet::new(), end };
    loop {
        let before = shrinker.best.choices.clone();
        shrinker.spans();
        shrinker.single();
        shrinker.runs();
        if shrinker.best.choices == before || shrinker.is_over() {
            break;
        }
    }
    let note = format!("shrunk from seed {seed}");
    Case { note, ..shrinker.best.case }
}

struct Shrinker<'f> {
    profile: &'f Profile,
    best: Made,
    still_fails: &'f mut dyn FnMut(&Case) -> bool,
    tried: HashSet<Choices>,
    end: Option<Instant>,
}

/// What makes one case simpler than another: that its listing is shorter; and then that its choices are fewer, and
/// nearer to 0.
fn size(made: &Made) -> (usize, usize, &Choices) {
    (made.case.to_string().len(), made.choices.iter().map(Vec::len).sum(), &made.choices)
}

impl Shrinker<'_> {
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Replaces a part of a page's choices, and keeps the change if the case is simpler with it and still fails.
    fn attempt(&mut self, page: usize, part: std::ops::Range<usize>, instead: &[u64]) -> bool {
        let mut choices = self.best.choices.clone();
        if self.is_over() || choices.get(page).is_none_or(|page| page.len() < part.end) {
            return false;
        }
        choices[page].splice(part, instead.iter().copied());
        if !self.tried.insert(choices.clone()) {
            return false;
        }
        let made = make(self.profile, Random::given(choices));
        let good = size(&made) < size(&self.best) && (made.case == self.best.case || (self.still_fails)(&made.case));
        if good {
            self.best = made;
        }
        good
    }

    /// Leaves out what belongs together, or puts a part of it in its place; the largest first.
    fn spans(&mut self) {
        let mut number = 0;
        while let Some(&(page, start, end)) = self.sorted_spans().get(number) {
            let within = |inner: &&(usize, usize, usize)| {
                let (other, first, last) = **inner;
                other == page && start <= first && last <= end && last - first < end - start
            };
            let parts: Vec<Vec<u64>> = self
                .sorted_spans()
                .iter()
                .filter(within)
                .map(|&(_, first, last)| self.best.choices[page][first..last].to_vec())
                .collect();
            // Before a statement, or behind it, may stand the choice whether it is the last one.
            let gone = [(start, end + 1), (start.saturating_sub(1), end), (start, end)]
                .into_iter()
                .any(|(start, end)| self.attempt(page, start..end, &[]))
                || self.attempt(page, start..end, &[0])
                || parts.iter().rev().any(|part| self.attempt(page, start..end, part));
            number += usize::from(!gone);
        }
    }

    fn sorted_spans(&self) -> Vec<(usize, usize, usize)> {
        let mut spans = self.best.spans.clone();
        spans.sort_by_key(|&(_, start, end)| std::cmp::Reverse(end - start));
        spans.dedup();
        spans
    }

    /// Makes single choices smaller; a greater one may leave out others.
    fn single(&mut self) {
        for page in 0..self.best.choices.len() {
            let mut at = 0;
            while let Some(&choice) = self.best.choices[page].get(at) {
                let near = [choice / 2, choice.saturating_sub(1), choice.saturating_add(1)];
                // What is simpler may take other choices in its turn.
                let instead: [&[u64]; 7] = [&[0], &[0, 0], &[0, 0, 0], &[1], &near[..1], &near[1..2], &near[2..]];
                let _ = instead.into_iter().any(|instead| self.attempt(page, at..at + 1, instead));
                at += 1;
            }
        }
    }

    /// Leaves out runs of choices, with or without a smaller one before them.
    fn runs(&mut self) {
        for page in 0..self.best.choices.len() {
            for length in [8, 4, 3, 2, 1] {
                let mut at = 0;
                while let Some(&choice) = self.best.choices[page].get(at) {
                    let gone = self.attempt(page, at..at + length, &[])
                        || choice > 0 && self.attempt(page, at..at + 1 + length, &[choice - 1]);
                    at += usize::from(!gone);
                }
            }
        }
    }
}
