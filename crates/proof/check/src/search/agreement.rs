//! The accesses and fences that all completions of a thread perform.

use wattle_memory::{EventId, Label, Model};

use super::process::{AccessTarget, Address, Change, Exchange};
use super::state::SearchState;

/// An action of a thread, as far as all its completions agree on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Act {
    Read {
        target: Option<AccessTarget>,
        label: Label,
        source: u32,
    },
    Update {
        target: Option<AccessTarget>,
        change: Change,
        read: Label,
        write: Label,
        source: u32,
    },
    Store {
        target: Option<AccessTarget>,
        value: Option<u64>,
        label: Label,
        source: u32,
    },
    Fence {
        label: Label,
        source: u32,
    },
    /// What the thread brings to an operation of its warp.
    Exchange {
        exchange: Exchange,
    },
    /// An action that is known otherwise, or in which completions differ, with its number of events.
    Other {
        events: usize,
    },
}

/// The store of an action.
pub(super) struct StoreOf {
    pub cell: Address,
    pub label: Label,
    /// The statement.
    pub source: u32,
}

impl Act {
    /// Whether an event of the graph is that action, or may be made one with it.
    pub fn is(&self, model: Model, state: &SearchState<'_>, id: EventId) -> bool {
        let event = state.graph.event(id);
        let place = event.location.and_then(|location| state.addresses.get(location)).copied();
        let here = |target: &Option<AccessTarget>| place.is_some() && place == target.map(|target| target.address);
        let alike = |label: Label| model.merged(event.label, label).is_some();
        match self {
            Act::Fence { label, .. } => alike(*label),
            Act::Read { target, label, .. } => alike(*label) && here(target) && state.early_update(id).is_none(),
            Act::Update { target, change, read, write, .. } => {
                let early = state.early_update(id).filter(|early| here(target) && early.change == *change);
                early.is_some_and(|early| early.has_labels(model, [*read, *write]))
            }
            Act::Store { target, value, label, .. } => alike(*label) && here(target) && event.value == *value,
            Act::Exchange { .. } | Act::Other { .. } => false,
        }
    }

    /// The store that it makes, where its cell is known.
    pub fn store(&self) -> Option<StoreOf> {
        match *self {
            Act::Store { target, label, source, .. } | Act::Update { target, write: label, source, .. } => {
                target.map(|target| StoreOf { cell: target.address, label, source })
            }
            Act::Read { .. } | Act::Fence { .. } | Act::Exchange { .. } | Act::Other { .. } => None,
        }
    }

    /// Whether the action is a store or an update.
    fn is_write(&self) -> bool {
        match self {
            Act::Store { .. } | Act::Update { .. } => true,
            Act::Read { .. } | Act::Fence { .. } | Act::Exchange { .. } | Act::Other { .. } => false,
        }
    }

    /// Whether it is known which cell the action accesses and what it does there.
    pub fn is_known(&self) -> bool {
        match self {
            Act::Store { target, value, .. } => target.is_some() && value.is_some(),
            Act::Update { target, change, .. } => target.is_some() && change.is_known(),
            Act::Read { target, .. } => target.is_some(),
            Act::Fence { .. } => true,
            Act::Exchange { exchange } => exchange.is_known(),
            Act::Other { .. } => false,
        }
    }

    /// Whether the action writes, and it is not known where or what.
    pub fn is_open(&self) -> bool {
        self.is_write() && !self.is_known()
    }

    /// The number of events of the action.
    pub fn events(&self) -> usize {
        match self {
            Act::Update { .. } => 2,
            Act::Read { .. } | Act::Store { .. } | Act::Fence { .. } | Act::Exchange { .. } => 1,
            Act::Other { events } => *events,
        }
    }
}

/// The actions that all compared completions of a thread perform.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    /// What is known of each action from the first open read on to which the thread has run ahead.
    pub ahead: Vec<Act>,
    /// The reads and stores after those, each behind the fences that precede it.
    pub beyond: Vec<Act>,
    /// Whether there were more completions than were compared.
    pub undecided: bool,
    /// Whether some completion was longer than the limit.
    pub cut: bool,
    /// Whether each completion ended at an operation of its warp, to which the thread has not come: what it does behind
    /// that is not known.
    pub met: bool,
    /// Whether some completions perform a store that others do not, or that is not known.
    pub depends: bool,
    /// Whether some completions perform stores that others perform in another order, or elsewhere among what the thread
    /// has run ahead to.
    pub reordered: bool,
    /// Pairs of reads that were assumed to be one.
    pub ties: Vec<(EventId, EventId)>,
}

impl Agreement {
    /// The agreement of completions that are all longer than the limit.
    pub fn cut() -> Agreement {
        let (ahead, beyond, ties) = (Vec::new(), Vec::new(), Vec::new());
        Agreement { ahead, beyond, undecided: true, cut: true, met: false, depends: true, reordered: false, ties }
    }

    /// What there is of it up to the action with this number; of what the thread has run ahead to behind that, nothing
    /// is known.
    pub fn up_to(&self, number: usize) -> Agreement {
        let mut ahead = self.ahead.clone();
        ahead.iter_mut().skip(number + 1).for_each(|act| *act = Act::Other { events: act.events() });
        let beyond = self.beyond.iter().take((number + 1).saturating_sub(ahead.len())).cloned().collect();
        Agreement { ahead, beyond, ..self.clone() }
    }

    /// Whether another one has the same actions.
    pub fn is_same(&self, other: &Agreement) -> bool {
        self.ahead == other.ahead && self.beyond == other.beyond
    }

    /// Whether all of it is in the graph already.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of actions that are not in the graph.
    pub fn len(&self) -> usize {
        self.known_ahead() + self.beyond.len()
    }

    /// The number of actions that are not in the graph, up to the last store: no other thread can see those behind it,
    /// and they only matter where their values determine a store.
    pub fn seen(&self) -> usize {
        self.known_ahead() + self.seen_beyond().len()
    }

    /// The actions up to the last store.
    pub fn seen_beyond(&self) -> &[Act] {
        let last = self.beyond.iter().rposition(Act::is_write);
        &self.beyond[..last.map_or(0, |last| last + 1)]
    }

    /// Drops the actions that no other thread can see.
    pub fn without_unseen(mut self) -> Agreement {
        self.beyond.truncate(self.seen_beyond().len());
        self
    }

    /// The number of known actions to which the thread has run ahead and that are not in the graph.
    pub fn known_ahead(&self) -> usize {
        let known = |act: &Act| match act {
            Act::Read { target, .. } => usize::from(target.is_some()),
            Act::Update { target, change, .. } => usize::from(target.is_some()) + usize::from(change.is_known()),
            Act::Store { target, value, .. } => usize::from(target.is_some()) + usize::from(value.is_some()),
            Act::Exchange { .. } => usize::from(act.is_known()),
            Act::Fence { .. } | Act::Other { .. } => 0,
        };
        self.ahead.iter().map(known).sum()
    }
}

/// Drops the fences behind the last access.
pub(super) fn trim(acts: &mut Vec<Act>) {
    let last = acts.iter().rposition(|act| !matches!(act, Act::Fence { .. }));
    acts.truncate(last.map_or(0, |last| last + 1));
}

/// Keeps the actions that another completion performs too.
pub(super) fn agree(model: Model, agreed: &mut Agreement, other: Agreement) {
    let stores_of = |of: &Agreement| of.ahead.iter().chain(&of.beyond).filter(|act| is_known_store(act)).count();
    let shared = shared_stores(model, agreed, &other);
    // Actions are matched by their events: one completion may make an access that is out of bounds in the other.
    let (mut at, mut theirs) = (0, other.ahead.iter().peekable());
    let mut from = 0;
    for act in &mut agreed.ahead {
        while theirs.peek().is_some_and(|_| from < at) {
            from += theirs.next().map_or(0, Act::events);
        }
        let also = theirs.peek().copied().filter(|_| from == at);
        at += act.events();
        *act = meet(act, also);
    }
    let stores = |acts: &[Act]| acts.iter().filter(|act| act.is_write()).count();
    let most = stores(&agreed.beyond).max(stores(&other.beyond));
    agreed.beyond = both(model, &agreed.beyond, &other.beyond);
    agreed.depends |= other.depends || stores(&agreed.beyond) < most;
    agreed.reordered |= other.reordered || stores_of(agreed) < shared;
    agreed.met &= other.met;
    agreed.ties.extend(other.ties);
}

fn is_known_store(act: &Act) -> bool {
    matches!(act, Act::Store { .. }) && act.is_known()
}

/// How many stores both have behind the same fences, in whatever order.
fn shared_stores(model: Model, first: &Agreement, second: &Agreement) -> usize {
    let mut left = all_placed(second, &[]);
    let is_shared = |placed: &Placed<'_>| {
        let at = left.iter().position(|other| are_alike(model, placed, other));
        at.map(|at| left.swap_remove(at)).is_some()
    };
    all_placed(first, &[]).iter().filter(|(act, _)| is_known_store(act)).map(is_shared).filter(|shared| *shared).count()
}

/// What each completion does of what all of them do, in its own order: the accesses that each of the others performs
/// too, behind the same fences, as often. `fences` gives the fences among what the thread has run ahead to, by their
/// numbers.
pub(super) fn in_each_order(model: Model, all: Vec<Agreement>, fences: &[(usize, Label)]) -> Vec<Agreement> {
    let placed: Vec<Vec<Placed<'_>>> = all.iter().map(|of| all_placed(of, fences)).collect();
    let count =
        |among: &[Placed<'_>], of: &Placed<'_>| among.iter().filter(|other| are_alike(model, other, of)).count();
    // As often as it stands in this one up to here.
    let is_shared = |mine: &[Placed<'_>], at: usize| {
        let before = count(&mine[..at], &mine[at]);
        placed.iter().all(|theirs| count(theirs, &mine[at]) > before)
    };
    let mut orders: Vec<Agreement> = Vec::new();
    for (of, mine) in all.iter().zip(&placed) {
        let shared: Vec<&Act> = (0..mine.len()).filter(|&at| is_shared(mine, at)).map(|at| mine[at].0).collect();
        let is_kept = |act: &Act| shared.iter().any(|kept| std::ptr::eq(*kept, act));
        let kept = |act: &Act| match act {
            Act::Read { .. } | Act::Store { .. } | Act::Update { .. } if !is_kept(act) => {
                Act::Other { events: act.events() }
            }
            Act::Read { .. } | Act::Store { .. } | Act::Update { .. } => act.clone(),
            Act::Fence { .. } | Act::Exchange { .. } | Act::Other { .. } => act.clone(),
        };
        let ahead = of.ahead.iter().map(kept).collect();
        let mut beyond: Vec<Act> =
            of.beyond.iter().filter(|act| matches!(act, Act::Fence { .. }) || is_kept(act)).cloned().collect();
        trim(&mut beyond);
        if !orders.iter().any(|known| known.ahead == ahead && known.beyond == beyond) {
            orders.push(Agreement { ahead, beyond, ..of.clone() });
        }
    }
    orders
}

/// What is known of an event of the graph if two completions perform these actions there.
fn meet(mine: &Act, theirs: Option<&Act>) -> Act {
    match mine {
        Act::Read { target, .. } if matches!(theirs, Some(Act::Read { target: at, .. }) if at == target) => {
            mine.clone()
        }
        Act::Update { target, change, .. } if matches!(theirs, Some(Act::Update { target: at, change: also, .. }) if at == target && also == change) => {
            mine.clone()
        }
        Act::Store { target, value, label, source } => match theirs {
            // The place may agree and the value not, or the other way round.
            Some(Act::Store { target: at, value: also, .. }) => Act::Store {
                target: target.filter(|_| target == at),
                value: value.filter(|_| value == also),
                label: *label,
                source: *source,
            },
            Some(
                Act::Read { .. } | Act::Update { .. } | Act::Fence { .. } | Act::Exchange { .. } | Act::Other { .. },
            )
            | None => Act::Other { events: mine.events() },
        },
        Act::Exchange { .. } if theirs == Some(mine) => mine.clone(),
        Act::Read { .. } | Act::Update { .. } | Act::Fence { .. } | Act::Exchange { .. } | Act::Other { .. } => {
            Act::Other { events: mine.events() }
        }
    }
}

/// A read or a store, and the fences before it.
type Placed<'a> = (&'a Act, Vec<Label>);

fn placed(acts: &[Act]) -> Vec<Placed<'_>> {
    placed_behind(acts, Vec::new())
}

fn placed_behind(acts: &[Act], mut fences: Vec<Label>) -> Vec<Placed<'_>> {
    let mut stores = Vec::new();
    for act in acts {
        match act {
            Act::Fence { label, .. } => fences.push(*label),
            Act::Store { .. } | Act::Read { .. } | Act::Update { .. } => stores.push((act, fences.clone())),
            Act::Exchange { .. } | Act::Other { .. } => {}
        }
    }
    stores
}

/// The known reads and stores of a completion, with the fences before them.
fn all_placed<'a>(of: &'a Agreement, fences: &[(usize, Label)]) -> Vec<Placed<'a>> {
    let mut at = 0;
    let mut placed = Vec::new();
    for act in &of.ahead {
        let before = fences.iter().filter(|(number, _)| *number < at).map(|(_, label)| *label).collect();
        placed.extend(placed_behind(std::slice::from_ref(act), before).into_iter().filter(|(act, _)| act.is_known()));
        at += act.events();
    }
    let before = fences.iter().map(|(_, label)| *label).collect();
    placed.extend(placed_behind(&of.beyond, before));
    placed
}

/// The reads and stores that both have, behind the same fences and in the same order, with the fences before them.
fn both(model: Model, first: &[Act], second: &[Act]) -> Vec<Act> {
    let (mine, theirs) = (placed(first), placed(second));
    let mut from = 0;
    // The kept accesses, and the fences before the last of them, as what they are in both.
    let (mut kept, mut fences) = (Vec::new(), Vec::new());
    for placed in &mine {
        let Some(at) = theirs[from..].iter().position(|other| are_alike(model, placed, other)) else { continue };
        let (act, behind) = &theirs[from + at];
        from += at + 1;
        kept.extend(merged(model, placed.0, act).map(|merged| (placed.0, merged)));
        fences = placed.1.iter().zip(behind).filter_map(|(one, other)| model.merged(*one, *other)).collect();
    }
    let mut fences = fences.into_iter();
    let in_both = |act: &Act| match act {
        Act::Fence { label, source } => Some(Act::Fence { label: fences.next().unwrap_or(*label), source: *source }),
        Act::Read { .. } | Act::Update { .. } | Act::Store { .. } | Act::Exchange { .. } | Act::Other { .. } => {
            kept.iter().find(|(kept, _)| std::ptr::eq(*kept, act)).map(|(_, merged)| merged.clone())
        }
    };
    let mut acts: Vec<Act> = first.iter().filter_map(in_both).collect();
    trim(&mut acts);
    acts
}

/// Whether two accesses, perhaps of different lines, are one for a compiler, behind fences that are.
fn are_alike(model: Model, one: &Placed<'_>, other: &Placed<'_>) -> bool {
    let fences = || one.1.iter().zip(&other.1).all(|(one, other)| model.merged(*one, *other).is_some());
    one.1.len() == other.1.len() && fences() && merged(model, one.0, other.0).is_some()
}

/// What two accesses, perhaps of different lines, are together if they are one for a compiler.
fn merged(model: Model, one: &Act, other: &Act) -> Option<Act> {
    match (one, other) {
        (&Act::Store { target, value, label, source }, &Act::Store { target: at, value: also, label: of, .. })
            if (target, value) == (at, also) =>
        {
            Some(Act::Store { target, value, label: model.merged(label, of)?, source })
        }
        (&Act::Read { target, label, source }, &Act::Read { target: at, label: of, .. }) if target == at => {
            Some(Act::Read { target, label: model.merged(label, of)?, source })
        }
        (
            &Act::Update { target, change, read, write, source },
            &Act::Update { target: at, change: also, read: reads, write: writes, .. },
        ) if (target, change) == (at, also) => {
            let (read, write) = (model.merged(read, reads)?, model.merged(write, writes)?);
            Some(Act::Update { target, change, read, write, source })
        }
        (
            Act::Store { .. }
            | Act::Read { .. }
            | Act::Update { .. }
            | Act::Fence { .. }
            | Act::Exchange { .. }
            | Act::Other { .. },
            _,
        ) => None,
    }
}
