//! The uses of each buffer that may still run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use smallvec::SmallVec;

use super::{Moment, QueueClock, Region, User};
use crate::domain::Sharing;
use crate::error::{Error, ErrorKind};
use crate::sync::lock;

/// The place of a use in the order of operations.
#[derive(Clone, Debug)]
pub(super) enum Holder {
    /// The operation of this number on this queue.
    Queue(Arc<QueueClock>, u64),
    /// A guard of the host's, until it is dropped.
    Guard(u64),
}

#[derive(Clone, Debug)]
pub(super) struct Use {
    holder: Holder,
    region: Region,
    sharing: Sharing,
    user: User,
}

/// The uses of one buffer that may still run.
#[derive(Debug, Default)]
pub(crate) struct Uses(pub(super) Mutex<Vec<Use>>);

/// An operation that is about to be enqueued: its queue's clock, and its number there.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'q> {
    pub(crate) clock: &'q Arc<QueueClock>,
    pub(crate) number: u64,
}

/// A use that an operation is about to make of a buffer.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'u> {
    pub(crate) uses: &'u Uses,
    pub(crate) region: Region,
    pub(crate) sharing: Sharing,
    pub(crate) user: User,
}

/// Why a use is not recorded.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The use conflicts with another one that is not ordered before it.
    Conflict(Error),
    /// The use conflicts with work of this queue, which was dropped and has no event left, so that the caller has to
    /// wait for the work before it tries again.
    Gone(Arc<QueueClock>),
}

/// The number of uses that operations have at most as a rule.
const USUAL: usize = 8;

/// Records the uses of an operation: all of them, or none if a use that is not ordered before the operation conflicts
/// with one. No thread sees a part. The operation's own uses are never ordered with each other.
#[inline]
pub(crate) fn record(at: &Stamp<'_>, wanted: &[Wanted<'_>]) -> Result<(), Refused> {
    match wanted {
        [] => Ok(()),
        [one] => record_in(at, &mut [(one.uses, lock(&one.uses.0))], wanted),
        [one, other] if std::ptr::eq(one.uses, other.uses) => {
            record_in(at, &mut [(one.uses, lock(&one.uses.0))], wanted)
        }
        [one, other] => {
            let (first, second) = if is_before(one.uses, other.uses) { (one, other) } else { (other, one) };
            let (first, second) = ((first.uses, lock(&first.uses.0)), (second.uses, lock(&second.uses.0)));
            record_in(at, &mut [first, second], wanted)
        }
        many => record_many(at, many),
    }
}

/// Whether the uses of `one` buffer are locked before those of the `other`: an order of all, so that no two threads
/// wait for each other.
#[inline]
fn is_before(one: &Uses, other: &Uses) -> bool {
    std::ptr::from_ref(one) < std::ptr::from_ref(other)
}

fn record_many(at: &Stamp<'_>, wanted: &[Wanted<'_>]) -> Result<(), Refused> {
    let mut buffers: SmallVec<[&Uses; USUAL]> = SmallVec::new();
    for Wanted { uses, .. } in wanted {
        let place = buffers.iter().position(|other| !is_before(other, uses)).unwrap_or(buffers.len());
        if buffers.get(place).is_none_or(|other| !std::ptr::eq(*other, *uses)) {
            buffers.insert(place, uses);
        }
    }
    let mut locked: SmallVec<[Locked<'_>; USUAL]> = SmallVec::new();
    for uses in &buffers {
        locked.push((uses, lock(&uses.0)));
    }
    record_in(at, &mut locked, wanted)
}

/// The uses of a buffer, locked.
type Locked<'u> = (&'u Uses, MutexGuard<'u, Vec<Use>>);

/// Records uses of these buffers, which are all that are wanted.
#[inline]
fn record_in(at: &Stamp<'_>, locked: &mut [Locked<'_>], wanted: &[Wanted<'_>]) -> Result<(), Refused> {
    // Whether each buffer is used as by the queue's last operation there, and by nothing else: what a kernel does that
    // is launched in a loop.
    let is_apart = locked.len() == wanted.len();
    let mut in_place = is_apart;
    for (number, one) in wanted.iter().enumerate() {
        if let Some((_, uses)) = locked.iter_mut().find(|(uses, _)| std::ptr::eq(*uses, one.uses))
            && !(is_apart && is_alone(at, uses, one))
        {
            in_place = false;
            check(at, uses, wanted, number)?;
        }
    }
    for one in wanted {
        if let Some((_, uses)) = locked.iter_mut().find(|(uses, _)| std::ptr::eq(*uses, one.uses)) {
            match uses.first_mut() {
                Some(Use { holder: Holder::Queue(_, number), user, .. }) if in_place => {
                    (*number, *user) = (at.number, one.user);
                }
                _ => add(at, uses, one),
            }
        }
    }
    Ok(())
}

/// Whether the only use of a buffer is one by this queue, just like this one: the queue's numbers grow, so it is by an
/// earlier operation.
#[inline]
fn is_alone(at: &Stamp<'_>, uses: &[Use], wanted: &Wanted<'_>) -> bool {
    let [Use { holder: Holder::Queue(clock, _), region, sharing, .. }] = uses else { return false };
    Arc::ptr_eq(clock, at.clock) && *sharing == wanted.sharing && *region == wanted.region
}

/// Refuses the use of this number among those that are wanted if it conflicts with another one. Forgets what is over.
fn check(at: &Stamp<'_>, uses: &mut Vec<Use>, wanted: &[Wanted<'_>], number: usize) -> Result<(), Refused> {
    let Wanted { region, sharing, user, .. } = wanted[number];
    for own in wanted[..number].iter().filter(|own| std::ptr::eq(own.uses, wanted[number].uses)) {
        if own.sharing.conflicts(sharing) && own.region.overlaps(&region) {
            let help = "give each parameter a part of the buffer of its own, or one view for both uses";
            // A host part that is launched beside the kernel is another one.
            let first = match own.user.parameter.filter(|_| own.user.what == user.what) {
                Some(parameter) => format!("its own parameter `{parameter}`: {:?}", own.sharing.access),
                None => own.user.describe(own.sharing),
            };
            let second = user.describe(sharing);
            return Err(Refused::Conflict(ErrorKind::Conflict { first, second, help }.into()));
        }
    }
    let mut index = 0;
    while let Some(other) = uses.get(index) {
        if other.is_over() {
            uses.swap_remove(index);
            continue;
        }
        if other.sharing.conflicts(sharing) && other.region.overlaps(&region) && !ordered(&other.holder, at) {
            return Err(refuse(other, sharing, user));
        }
        index += 1;
    }
    Ok(())
}

/// Adds a use, which also stands for those before it with which nothing conflicts that does not conflict with this one.
fn add(at: &Stamp<'_>, uses: &mut Vec<Use>, wanted: &Wanted<'_>) {
    let Wanted { region, sharing, user, .. } = *wanted;
    uses.retain(|other| {
        let covers = other.sharing == sharing || sharing.conflicts_with_all();
        !(covers && region.contains(&other.region) && ordered(&other.holder, at))
    });
    uses.push(Use { holder: Holder::Queue(at.clock.clone(), at.number), region, sharing, user });
}

impl Use {
    #[inline]
    fn is_over(&self) -> bool {
        matches!(&self.holder, Holder::Queue(clock, number) if clock.is_over(*number))
    }
}

impl Uses {
    /// Records a use by a guard, until [`Uses::release`]. What comes before `place` is ordered before it: the guard's
    /// thread is in a host task there.
    pub(crate) fn hold(
        &self,
        region: Region,
        sharing: impl Into<Sharing>,
        user: User,
        place: &Moment,
    ) -> Result<u64, Refused> {
        let sharing = sharing.into();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut uses = lock(&self.0);
        uses.retain(|other| !other.is_over());
        let in_the_way = |other: &&Use| {
            let is_before = matches!(&other.holder, Holder::Queue(clock, number) if place.has(clock, *number));
            other.sharing.conflicts(sharing) && other.region.overlaps(&region) && !is_before
        };
        if let Some(other) = uses.iter().find(in_the_way) {
            return Err(refuse(other, sharing, user));
        }
        let guard = NEXT.fetch_add(1, Ordering::Relaxed);
        uses.push(Use { holder: Holder::Guard(guard), region, sharing, user });
        Ok(guard)
    }

    /// Removes the use of a guard that is dropped.
    pub(crate) fn release(&self, guard: u64) {
        lock(&self.0).retain(|other| !matches!(other.holder, Holder::Guard(held) if held == guard));
    }
}

#[inline]
fn ordered(holder: &Holder, at: &Stamp<'_>) -> bool {
    match holder {
        Holder::Queue(clock, number) if Arc::ptr_eq(clock, at.clock) => *number < at.number,
        Holder::Queue(clock, number) => at.clock.knows(clock, *number),
        Holder::Guard(_) => false,
    }
}

#[cold]
fn refuse(first: &Use, sharing: Sharing, second: User) -> Refused {
    let help = match &first.holder {
        Holder::Queue(clock, number) if clock.is_gone(*number) => return Refused::Gone(clock.clone()),
        _ if !first.sharing.conflicts_by_access(sharing) && first.sharing.device != sharing.device => {
            "the two are on different devices, between which only system scope orders: give the fences and atomics of both \
             kernels `Scope::System`, or let one wait for the other"
        }
        _ if !first.sharing.conflicts_by_access(sharing) => {
            "the two are in different memory synchronization domains, between which only system scope orders: give the \
             fences and atomics of both kernels `Scope::System`, launch both in one domain, or let one wait for the \
             other"
        }
        Holder::Guard(_) => "drop the guard first",
        Holder::Queue(..) => {
            "wait for the first on the host (`queue.wait()`, or `wait` on an event behind it), or let the second's queue \
             wait for an event that the first's queue records after it"
        }
    };
    Refused::Conflict(conflict((first.user, first.sharing), (second, sharing), help))
}

#[cold]
fn conflict(first: (User, Sharing), second: (User, Sharing), help: &'static str) -> Error {
    let (first, second) = (first.0.describe(first.1), second.0.describe(second.1));
    ErrorKind::Conflict { first, second, help }.into()
}
