//! Accesses to memory: the index is checked, then the owner gets a request. Accesses to private arrays are done at
//! once.

use wattle_ir::{MAX_RANK, Place};

use crate::code::{Access, AccessKind, AccessParts, Destination};
use crate::request::{Fault, Location, Request};
use crate::thread::Answer;
use crate::{Environment, Program, Thread, Value};

impl<V: Value> Thread<V> {
    /// Checks the index and asks for the access; one to a private array is done here.
    pub(crate) fn access(
        &mut self,
        program: &Program,
        access: &Access,
        environment: &Environment,
        temps: &[V],
    ) -> Option<Request<V>> {
        let extent = match access.place {
            Place::Param(id) => environment.extent(id.0),
            Place::Shared(id) => program.shared_extents(id.index(), environment.shared_len),
            Place::Local(id) => [program.locals.get(id.index()).map_or(0, |local| local.len.into()), 1, 1, 1],
        };
        let mut index = [0u64; MAX_RANK];
        let (mut inside, mut known) = (true, true);
        for dimension in 0..access.rank.min(MAX_RANK) {
            match self.operand(access.index[dimension], environment, temps).known() {
                Some(raw) => {
                    index[dimension] = raw;
                    inside &= index[dimension] < extent[dimension];
                }
                None => known = false,
            }
        }
        if let AccessKind::LoadLanes { lanes, .. } | AccessKind::StoreLanes { lanes, .. } = access.kind {
            inside = index[0].checked_add(lanes.into()).is_some_and(|end| end <= extent[0]);
        }
        // Whether an unknown index is out of bounds is decided only when the thread knows it.
        if known && !inside {
            return Some(self.out_of_bounds(program, access, index, extent));
        }
        if let Place::Local(id) = access.place {
            if !known {
                return Some(self.needs_value());
            }
            if let Some(constants) = program.constants(id) {
                self.constant_access(program, access, &constants[index[0] as usize..]);
                return None;
            }
            let first = program.locals.get(id.index()).map_or(0, |local| local.first) + index[0] as usize;
            self.own_access(program, access, first, environment, temps);
            return None;
        }
        let (place, element, rank) = (access.place, access.element, access.rank);
        let index = V::index(known.then_some(index));
        let location = Location { place, element, rank, index, site: self.site(program) };
        let get = |operand| self.operand(operand, environment, temps);
        let (answer, request) = match access.kind {
            AccessKind::Load { dst } => (Answer::Slot(dst), Request::Load(location)),
            AccessKind::LoadLanes { dst, lanes } => {
                let first = program.locals.get(dst.index()).map_or(0, |local| local.first);
                (Answer::Lanes { first, len: lanes }, Request::LoadLanes { location, lanes })
            }
            AccessKind::Store { value } => (Answer::None, Request::Store { location, value: get(value) }),
            AccessKind::StoreLanes { first, lanes } => {
                let values = program.lanes(first, lanes).iter().map(|&value| get(value)).collect();
                (Answer::None, Request::StoreLanes { location, values })
            }
            AccessKind::AtomicLoad { dst, order, scope } => {
                (Answer::Slot(dst), Request::AtomicLoad { location, order, scope })
            }
            AccessKind::AtomicStore { value, order, scope } => {
                (Answer::None, Request::AtomicStore { location, value: get(value), order, scope })
            }
            AccessKind::AtomicUpdate { dst, op, operand, order, scope } => {
                let operand = get(operand);
                (Answer::Slot(dst), Request::AtomicUpdate { location, op, operand, order, scope })
            }
            AccessKind::CompareExchange { dst, expected, desired, order, scope } => {
                let (expected, desired) = (get(expected), get(desired));
                (Answer::Slot(dst), Request::CompareExchange { location, expected, desired, order, scope })
            }
        };
        self.answer = answer;
        Some(request)
    }

    /// Does an access to a private array; the verifier permits only plain ones.
    fn own_access(&mut self, program: &Program, access: &Access, first: usize, environment: &Environment, temps: &[V]) {
        match access.kind {
            AccessKind::Load { dst } => {
                let value = self.words.get(first).copied().unwrap_or_default();
                self.set(dst as usize, value);
            }
            AccessKind::LoadLanes { dst, lanes } => {
                let to = program.locals.get(dst.index()).map_or(0, |local| local.first);
                self.words.copy_within(first..first + lanes as usize, to);
            }
            AccessKind::Store { value } => {
                let value = self.operand(value, environment, temps);
                self.set(first, value);
            }
            AccessKind::StoreLanes { .. }
            | AccessKind::AtomicLoad { .. }
            | AccessKind::AtomicStore { .. }
            | AccessKind::AtomicUpdate { .. }
            | AccessKind::CompareExchange { .. } => {}
        }
    }

    /// Does an access to an array of constants, which the verifier permits to load alone; `from` begins at the index.
    fn constant_access(&mut self, program: &Program, access: &Access, from: &[u64]) {
        match access.kind {
            AccessKind::Load { dst } => self.set(dst as usize, V::from_raw(from.first().copied().unwrap_or_default())),
            AccessKind::LoadLanes { dst, lanes } => {
                let to = program.locals.get(dst.index()).map_or(0, |local| local.first);
                for (number, &raw) in from.iter().take(lanes as usize).enumerate() {
                    self.set(to + number, V::from_raw(raw));
                }
            }
            AccessKind::Store { .. }
            | AccessKind::StoreLanes { .. }
            | AccessKind::AtomicLoad { .. }
            | AccessKind::AtomicStore { .. }
            | AccessKind::AtomicUpdate { .. }
            | AccessKind::CompareExchange { .. } => {}
        }
    }

    /// Skips the access; a load gives 0.
    fn out_of_bounds(
        &mut self,
        program: &Program,
        access: &Access,
        index: [u64; MAX_RANK],
        extent: [u64; MAX_RANK],
    ) -> Request<V> {
        let AccessParts { answer, lanes, .. } = access.parts();
        match answer {
            Some(Destination::Slot(dst)) => self.set(dst as usize, V::default()),
            Some(Destination::Array(dst)) => {
                if let Some(local) = program.locals.get(dst.index()) {
                    let words = self.words.get_mut(local.first..local.first + local.len as usize);
                    words.unwrap_or(&mut []).fill(V::default());
                }
            }
            None => {}
        }
        let rank = access.rank.min(MAX_RANK);
        let (index, extent) = (index[..rank].to_vec(), extent[..rank].to_vec());
        Request::Fault(Fault::OutOfBounds { place: access.place, index, lanes, extent, site: self.site(program) })
    }
}
