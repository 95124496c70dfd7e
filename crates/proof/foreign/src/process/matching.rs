//! A lane that asks others of its warp for their values, and what it makes of them.

use wattle_modules::code::{Combine, Match};
use wattle_modules::meaning::combine;
use wattle_modules::meaning::warp::matched;
use wattle_modules::{Deferred, Value};

use crate::operations::spread;

/// What a lane makes of all lanes' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Makes {
    /// The lanes with its own.
    Match(Match),
    /// A reduction or a scan.
    Combine(Combine),
}

/// A lane that asks those of a mask for their values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Matching {
    pub at: u32,
    pub how: Makes,
    /// The own lane's number.
    pub lane: u32,
    pub mask: u64,
    pub own: Deferred,
    /// The values of the lanes of the mask that have answered, which are the first ones.
    pub read: Vec<Deferred>,
    /// Whether the next lane has been asked.
    pub asked: bool,
    /// Whether nothing fixes what it answers.
    pub any: bool,
    /// Whether the mask has those lanes alone that have not ended; else they are asked first.
    pub knows_who: bool,
}

impl Matching {
    /// Takes the value of the lane that was asked, or the lanes that there are.
    pub fn answer(&mut self, value: Deferred) {
        self.asked = false;
        match value {
            Deferred::Known(lanes) if !self.knows_who => {
                (self.mask, self.knows_who) = (spread(lanes, self.mask), true);
            }
            // Nothing goes on before it is known.
            _ if !self.knows_who => self.asked = true,
            value => self.read.push(value.any_if(self.any)),
        }
    }

    pub fn any_pending(&self) -> bool {
        self.read.iter().chain([&self.own]).any(|value| value.is_pending())
    }

    /// The result and the predicate. It is known once all values are.
    pub fn result(&self) -> (Deferred, Deferred) {
        match self.how {
            Makes::Match(how) => self.matched(how),
            Makes::Combine(how) => (self.combined(how), Deferred::Known(0)),
        }
    }

    fn combined(&self, how: Combine) -> Deferred {
        let known: Vec<Option<u64>> = self.read.iter().map(|value| value.known()).collect();
        if known.contains(&None) {
            return Deferred::PENDING;
        }
        let any = self.read.iter().any(|value| value.is_any());
        match combine::result(how, self.lane as usize, &known) {
            Some(value) => Deferred::Known(value).any_if(any),
            None => Deferred::Any(0),
        }
    }

    fn matched(&self, how: Match) -> (Deferred, Deferred) {
        let lanes = (0..u64::BITS).filter(|lane| self.mask >> lane & 1 == 1);
        let bit = |equal: Deferred, (lane, &value): (u32, &Deferred)| {
            equal.zip3(value, self.own, |equal, value, own| equal | u64::from(value == own) << lane)
        };
        let equal = lanes.zip(&self.read).fold(Deferred::Known(0), bit);
        let found = |equal| matched(how, self.mask, equal);
        (equal.map(|equal| found(equal).0), equal.map(|equal| found(equal).1.into()))
    }
}
