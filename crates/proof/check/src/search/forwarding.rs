//! What a thread has stored plainly and reads again before it synchronizes: a compiler passes it on to the read.

use wattle_memory::{EventId, Kind, Label, Level};

use super::process::Address;
use super::state::SearchState;

/// What a thread has stored plainly, and would read again.
#[derive(Clone, Default)]
pub(super) struct Stored {
    /// The last store to each place, if it is known.
    last: Vec<(Address, Option<Forwarded>)>,
}

/// A store, and what a read of its place gets.
#[derive(Clone, Copy)]
pub(super) struct Forwarded {
    pub value: u64,
    /// The event of the store, if the thread has run ahead to it.
    pub event: Option<EventId>,
}

impl Stored {
    /// What the thread of an event has stored plainly before it, since it last synchronized.
    pub fn before(state: &SearchState<'_>, first: EventId) -> Stored {
        let graph = &state.graph;
        let mut last: Vec<(Address, Option<Forwarded>)> = Vec::new();
        let before = (0..first).rev().filter(|&event| graph.same_thread(event, first));
        for event in before.take_while(|&event| !synchronizes(graph.event(event).label)) {
            let store = graph.event(event);
            let location = store.location.filter(|_| store.label.kind == Kind::Write);
            let Some(&address) = location.and_then(|location| state.addresses.get(location)) else { continue };
            if !last.iter().any(|(at, _)| *at == address) {
                let value = store.value.filter(|_| !store.label.atomic && !store.label.unwritten);
                last.push((address, value.map(|value| Forwarded { value, event: Some(event) })));
            }
        }
        Stored { last }
    }

    pub fn at(&self, address: Address) -> Option<Forwarded> {
        self.last.iter().find(|(at, _)| *at == address)?.1
    }

    /// `address` is `None` where the store may be anywhere, `what` where it is not known or not plain.
    pub fn store(&mut self, address: Option<Address>, what: Option<Forwarded>) {
        self.last.retain(|(at, _)| address.is_some_and(|address| address != *at));
        self.last.extend(address.map(|address| (address, what)));
    }

    /// What the thread sees from here on others may have written.
    pub fn synchronize(&mut self) {
        self.last.clear();
    }
}

/// Whether what others have done may be seen behind it.
pub(super) fn synchronizes(label: Label) -> bool {
    match label.kind {
        Kind::Read | Kind::Write => label.acquire,
        Kind::Fence => label.level > Level::Thread,
        Kind::Barrier | Kind::MakeAvailable | Kind::MakeVisible => true,
    }
}
