//! All ends of a program under a model: what a run of it on a device is compared with.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use wattle_check::search::{Execution, Visitor};
use wattle_memory::Model;

use crate::ask::Question;
use crate::condition::Observed;
use crate::judge::{Answer, Finals, JudgeError, Options, Reason, explore, judge};
use crate::process::World;

/// The ends that a model gives a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Everything that the program's claim and filter observe, in the order of the values.
    pub observed: Vec<Observed>,
    /// The values at each end that the filter accepts.
    pub values: BTreeSet<Vec<u64>>,
    /// Whether some execution has a data race; `None` if that was not found out.
    pub races: Option<bool>,
    /// The reason why there may be further ends.
    pub missed: Option<Reason>,
}

/// Finds all ends of a program under a model.
///
/// # Errors
/// The program has a property that the search does not support.
pub fn ends(world: &World, model: Model, options: &Options) -> Result<Ends, JudgeError> {
    let finals = Finals::of(world.program(), &options.limits);
    let mut all = All { finals, values: BTreeSet::new(), open: false };
    let (missed, _) = explore(world, model, options, false, &mut all)?;
    let missed = missed.or(all.finals.stopped()).or(all.open.then_some(Reason::NoValue));
    let races = match judge(world, model, Question::Race, options)?.answer {
        Answer::Yes => Some(false),
        Answer::No => Some(true),
        Answer::Unknown(_) => None,
    };
    Ok(Ends { observed: all.finals.observed, values: all.values, races, missed })
}

/// A visitor that keeps the values at every end.
struct All<'w> {
    finals: Finals<'w>,
    values: BTreeSet<Vec<u64>>,
    /// Whether something observed had no value at some end.
    open: bool,
}

impl Visitor for All<'_> {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let (values, open, observed) = (&mut self.values, &mut self.open, &self.finals.observed);
        self.finals.each(execution, |value| {
            match observed.iter().map(|&observed| value(observed)).collect() {
                Some(end) => {
                    values.insert(end);
                }
                None => *open = true,
            }
            false
        });
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    const STORE_BUFFERING: &str = "PTX sb\n{ x=0; y=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.relaxed.gpu x, 1 | \
                                   st.relaxed.gpu y, 1 ;\n ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;\nexists\n\
                                   (P0:r0 == 0 /\\ P1:r0 == 0)\n";

    #[test]
    fn store_buffering_has_four_ends_and_three_if_it_is_sequentially_consistent() {
        let world = World::new(parse("sb", STORE_BUFFERING).unwrap());
        let count = |model| ends(&world, model, &Options::default()).unwrap();
        let weak = count(Model::Ptx);
        assert_eq!((weak.observed.len(), weak.values.len(), weak.races, weak.missed), (2, 4, Some(false), None));
        assert_eq!(count(Model::Sc).values.len(), 3);
    }
}
