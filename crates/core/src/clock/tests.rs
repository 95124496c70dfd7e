//! What the clocks refuse, and what they let pass: each rule and each boundary by itself, without a queue that runs.

use std::sync::Arc;

use wattle_ir::{Access, MAX_RANK, Site};

use super::{Moment, QueueClock, QueueName, Refused, Region, Stamp, User, Uses, Wanted, host_waited, record};
use crate::domain::Sharing;
use crate::error::Error;
use crate::queue::LastPoint;

fn region(begin: u32, end: u32) -> Region {
    let mut region = Region { begin: [0; MAX_RANK], end: [1; MAX_RANK] };
    (region.begin[0], region.end[0]) = (begin.into(), end.into());
    region
}

fn user(what: &'static str) -> User {
    User { what, parameter: None, site: Site::caller() }
}

fn queue() -> Arc<QueueClock> {
    QueueClock::new(QueueName { device: "a device".into(), site: Site::caller() })
}

/// The error of what has to be refused.
fn error(refused: Refused) -> Error {
    match refused {
        Refused::Conflict(error) => error,
        Refused::Gone(clock) => panic!("{} is not gone", clock.name),
    }
}

/// Records one use of a buffer by an operation.
fn record_one(
    uses: &Uses,
    at: &Stamp<'_>,
    region: Region,
    sharing: impl Into<Sharing>,
    user: User,
) -> Result<(), Error> {
    record(at, &[Wanted { uses, region, sharing: sharing.into(), user }]).map_err(error)
}

fn hold(uses: &Uses, part: (u32, u32), access: Access, what: &'static str) -> Result<u64, Error> {
    uses.hold(region(part.0, part.1), access, user(what), &Moment::default()).map_err(error)
}

fn entries(moment: &Moment) -> Vec<u64> {
    moment.entries().map(|(_, number)| number).collect()
}

/// Enqueues an operation that uses elements 0 to 8 with `access`, and returns its number.
fn enqueue(uses: &Uses, clock: &Arc<QueueClock>, access: Access, what: &'static str) -> Result<u64, Error> {
    enqueue_at(uses, clock, region(0, 8), access.into(), what)
}

fn enqueue_at(
    uses: &Uses,
    clock: &Arc<QueueClock>,
    region: Region,
    sharing: Sharing,
    what: &'static str,
) -> Result<u64, Error> {
    let number = clock.tick();
    record_one(uses, &Stamp { clock, number }, region, sharing, user(what)).map(|()| number)
}

fn text(result: Result<u64, Error>) -> String {
    result.expect_err("it conflicts").to_string()
}

#[test]
fn regions_overlap_where_they_share_an_index_in_every_dimension() {
    for (a, b, overlap) in [
        ((0, 4), (4, 8), false),
        ((0, 5), (4, 8), true),
        ((4, 8), (0, 4), false),
        ((4, 8), (0, 5), true),
        ((2, 3), (0, 8), true),
        ((0, 8), (2, 3), true),
        ((0, 8), (0, 8), true),
        ((4, 4), (0, 4), false),
    ] {
        assert_eq!(region(a.0, a.1).overlaps(&region(b.0, b.1)), overlap, "{a:?} {b:?}");
    }
    let mut elsewhere = region(0, 8);
    (elsewhere.begin[1], elsewhere.end[1]) = (1, 2);
    assert!(!region(0, 8).overlaps(&elsewhere) && !elsewhere.overlaps(&region(0, 8)));
    assert_eq!(region(3, 8).extent()[0], 5);
    assert_eq!(region(3, 8).extent()[1..], [1; MAX_RANK - 1]);
}

#[test]
fn two_queues_conflict_where_nothing_orders_them() {
    let (uses, a, b) = (Uses::default(), queue(), queue());
    enqueue(&uses, &a, Access::PerItem, "the first").unwrap();
    let error = text(enqueue(&uses, &b, Access::Read, "the second"));
    assert!(error.contains("the first at") && error.contains("the second at") && error.contains("wait for the first"));
    // Uses of other elements do not conflict, nor do two reads.
    enqueue_at(&uses, &b, region(8, 9), Access::Read.into(), "beside").unwrap();
    let uses = Uses::default();
    enqueue(&uses, &a, Access::Read, "a").unwrap();
    enqueue(&uses, &b, Access::Read, "b").unwrap();
    assert!(enqueue(&uses, &queue(), Access::PerItem, "c").is_err());
}

#[test]
fn a_queue_is_in_order() {
    let (uses, a) = (Uses::default(), queue());
    assert_eq!(enqueue(&uses, &a, Access::PerItem, "1").unwrap(), 1);
    assert_eq!(enqueue(&uses, &a, Access::Read, "2").unwrap(), 2);
    assert_eq!(enqueue(&uses, &a, Access::PerItem, "3").unwrap(), 3);
    // The last use of a kind stands for the earlier ones.
    assert!(text(enqueue(&uses, &queue(), Access::PerItem, "x")).contains("3 at"));
}

#[test]
fn two_uses_of_one_operation_are_not_ordered() {
    let (uses, a) = (Uses::default(), queue());
    let at = Stamp { clock: &a, number: a.tick() };
    let both = |first: (u32, u32, Access), second: (u32, u32, Access)| {
        let wanted = [first, second].map(|(begin, end, access)| Wanted {
            uses: &uses,
            region: region(begin, end),
            sharing: access.into(),
            user: user("k"),
        });
        record(&at, &wanted).map_err(error)
    };
    let refused = both((0, 8, Access::PerItem), (4, 12, Access::Read)).unwrap_err().to_string();
    assert!(refused.contains("a part of the buffer of its own"), "{refused}");
    assert!(both((0, 8, Access::PerItem), (0, 8, Access::PerItem)).is_err(), "the same again");
    both((0, 8, Access::PerItem), (8, 12, Access::Read)).unwrap();
}

#[test]
fn an_operation_records_all_its_uses_or_none() {
    let (x, y, z) = (Uses::default(), Uses::default(), Uses::default());
    let (a, b, c) = (queue(), queue(), queue());
    enqueue(&y, &a, Access::PerItem, "in the way").unwrap();
    let read = enqueue(&z, &b, Access::Read, "earlier").unwrap();
    let at = Stamp { clock: &b, number: b.tick() };
    let wanted = [(&x, Access::PerItem), (&z, Access::Read), (&y, Access::Read)].map(|(uses, access)| Wanted {
        uses,
        region: region(0, 8),
        sharing: access.into(),
        user: user("refused"),
    });
    assert!(record(&at, &wanted).map_err(error).unwrap_err().to_string().contains("in the way"));
    enqueue(&x, &c, Access::PerItem, "x is free").unwrap();
    // The use from before is still there, under its own number.
    assert!(text(enqueue(&z, &c, Access::PerItem, "c")).contains("earlier at"));
    b.host_waited(read, &b.known());
    enqueue(&z, &c, Access::PerItem, "c").unwrap();
}

#[test]
fn no_thread_sees_a_part_of_an_operation() {
    let buffers: [Uses; 8] = Default::default();
    let busy = queue();
    enqueue(&buffers[7], &busy, Access::PerItem, "in the way").unwrap();
    let wanted = |buffer: usize| Wanted {
        uses: &buffers[buffer],
        region: region(0, 8),
        sharing: Access::PerItem.into(),
        user: user("several"),
    };
    std::thread::scope(|scope| {
        // Two that are refused and lock in different orders, and one that uses a part of what they would.
        for order in [[0, 1, 2, 3, 4, 5, 6, 7], [6, 5, 4, 3, 2, 1, 0, 7]] {
            scope.spawn(move || {
                let clock = queue();
                for _ in 0..20_000 {
                    let at = Stamp { clock: &clock, number: clock.tick() };
                    assert!(record(&at, &order.map(wanted)).is_err());
                }
            });
        }
        let clock = queue();
        for round in 0..20_000 {
            let at = Stamp { clock: &clock, number: clock.tick() };
            record(&at, &[wanted(round % 7)]).map_err(error).unwrap();
        }
    });
}

#[test]
fn the_work_of_a_queue_that_is_gone_is_waited_for() {
    let (uses, a, b) = (Uses::default(), queue(), queue());
    enqueue(&uses, &a, Access::PerItem, "a").unwrap();
    a.leave(LastPoint { state: Arc::default(), mover: None });
    let stamp = Stamp { clock: &b, number: b.tick() };
    let wanted = [Wanted { uses: &uses, region: region(0, 8), sharing: Access::Read.into(), user: user("b") }];
    let Err(Refused::Gone(gone)) = record(&stamp, &wanted) else { panic!("nobody has waited for it") };
    assert!(Arc::ptr_eq(&gone, &a));
    assert!(matches!(uses.hold(region(0, 8), Access::Read, user("guard"), &Moment::default()), Err(Refused::Gone(_))));
    host_waited(&a.moment());
    record(&stamp, &wanted).map_err(error).unwrap();
}

/// As long as an event is left, the work up to it can be waited for by it, and only that work.
#[test]
fn an_event_stands_for_a_queue_that_is_gone() {
    let (uses, later, a, b) = (Uses::default(), Uses::default(), queue(), queue());
    let gone = |uses: &Uses| {
        let held = uses.hold(region(0, 8), Access::Read, user("guard"), &Moment::default());
        matches!(held, Err(Refused::Gone(_)))
    };
    enqueue(&uses, &a, Access::PerItem, "a").unwrap();
    let event = a.event();
    assert_eq!(entries(&event), entries(&a.moment()));
    enqueue(&later, &a, Access::PerItem, "a, later").unwrap();
    assert!(!gone(&uses) && !gone(&later) && a.last().is_none(), "the queue is there");
    a.leave(LastPoint { state: Arc::default(), mover: None });
    assert!(a.last().is_some());
    assert!(!gone(&uses) && gone(&later), "the event is of the first use alone");
    b.after(&event);
    enqueue(&uses, &b, Access::Read, "b").unwrap();
    let copy = event.clone();
    drop(event);
    assert!(!gone(&uses));
    drop(copy);
    assert!(gone(&uses), "nothing is left by which to wait");
}

#[test]
fn a_queue_whose_work_the_host_has_waited_for_is_over() {
    let (uses, a, b) = (Uses::default(), queue(), queue());
    assert!(a.is_all_over(), "nothing was enqueued");
    enqueue(&uses, &a, Access::PerItem, "a").unwrap();
    b.after(&a.moment());
    let last = enqueue(&uses, &b, Access::PerItem, "b").unwrap();
    assert!(!a.is_all_over() && !b.is_all_over());
    b.host_waited_for_all(last);
    assert!(b.is_all_over() && a.is_all_over(), "and what it was ordered after");
    enqueue(&uses, &queue(), Access::PerItem, "another").unwrap();
}

#[test]
fn what_comes_before_a_host_task_is_over_for_its_thread() {
    let (uses, a, b) = (Uses::default(), queue(), queue());
    enqueue(&uses, &a, Access::PerItem, "a").unwrap();
    let before = a.moment();
    hold(&uses, (0, 8), Access::Read, "another thread").unwrap_err();
    let guard = uses.hold(region(0, 8), Access::Read, user("the task"), &before).map_err(error).unwrap();
    uses.release(guard);
    b.after(&before);
    enqueue(&uses, &b, Access::Read, "b").unwrap();
}

#[test]
fn what_is_over_is_forgotten() {
    let (uses, main) = (Uses::default(), queue());
    let mut gone = Vec::new();
    for _ in 0..100 {
        let short = queue();
        // Ordered both ways, in a chain through a buffer.
        short.after(&main.moment());
        enqueue(&uses, &short, Access::PerItem, "short").unwrap();
        main.after(&short.moment());
        enqueue(&uses, &main, Access::PerItem, "main").unwrap();
        gone.push(Arc::downgrade(&short));
    }
    assert!(gone.iter().all(|clock| clock.strong_count() == 0), "queues that order each other keep each other");
    assert_eq!(uses.0.lock().unwrap().len(), 1, "the last use stands for all before it");
    assert!(entries(&main.known()).is_empty());
    // What the host has waited for is not remembered either.
    let all: Vec<_> = (0..100).map(|_| queue()).collect();
    for clock in &all {
        clock.tick();
        main.after(&clock.moment());
    }
    assert_eq!(entries(&main.known()).len(), 100);
    main.host_waited(main.tick(), &main.known());
    assert!(entries(&main.known()).is_empty());
}

#[test]
fn events_order_queues_and_what_they_have_waited_for() {
    let (uses, a, b, c) = (Uses::default(), queue(), queue(), queue());
    let first = enqueue(&uses, &a, Access::PerItem, "a").unwrap();
    assert_eq!(entries(&a.moment()), [first]);
    assert!(b.known().is_empty());
    b.after(&a.moment());
    assert_eq!(entries(&b.known()), [first]);
    enqueue(&uses, &b, Access::Read, "b").unwrap();
    // A wait for `b` is also a wait for what `b` has waited for.
    assert!(enqueue(&uses, &c, Access::Read, "c").is_err());
    c.after(&b.moment());
    enqueue(&uses, &c, Access::Read, "c").unwrap();
    // A later operation of `a` is not part of that moment.
    let later = Uses::default();
    enqueue(&later, &a, Access::PerItem, "a, later").unwrap();
    assert!(enqueue(&later, &b, Access::Read, "b").is_err());
    assert!(enqueue(&later, &c, Access::Read, "c").is_err());
}

#[test]
fn knowledge_does_not_go_back() {
    let (uses, a, b) = (Uses::default(), queue(), queue());
    let early = a.moment();
    enqueue(&uses, &a, Access::PerItem, "a").unwrap();
    b.after(&a.moment());
    b.after(&early);
    enqueue(&uses, &b, Access::PerItem, "b").unwrap();
    // A queue's own moment teaches it nothing of others.
    let own = queue();
    own.tick();
    own.after(&own.moment());
    assert!(own.known().is_empty());
}

#[test]
fn knowing_one_queue_says_nothing_of_another() {
    let (uses, a, b, other) = (Uses::default(), queue(), queue(), queue());
    enqueue(&uses, &a, Access::PerItem, "a").unwrap();
    other.tick();
    other.tick();
    b.after(&other.moment());
    assert!(enqueue(&uses, &b, Access::Read, "b").is_err());
}

#[test]
fn what_the_host_has_waited_for_is_over() {
    let (uses, a, b) = (Uses::default(), queue(), queue());
    let first = enqueue(&uses, &a, Access::PerItem, "a").unwrap();
    a.host_waited(first - 1, &a.known());
    assert!(enqueue(&uses, &b, Access::Read, "b").is_err());
    a.host_waited(first, &a.known());
    enqueue(&uses, &b, Access::Read, "b").unwrap();
    // Also of the queues that the operation was ordered after.
    let (uses, c) = (Uses::default(), queue());
    enqueue(&uses, &a, Access::PerItem, "a").unwrap();
    c.after(&a.moment());
    let last = enqueue(&uses, &c, Access::PerItem, "c").unwrap();
    c.host_waited(last, &c.known());
    hold(&uses, (0, 8), Access::PerItem, "the host").unwrap();
    // An older moment takes nothing back.
    host_waited(&Moment::default().with(&c, 0));
    let (uses, d) = (Uses::default(), queue());
    let number = enqueue(&uses, &d, Access::PerItem, "d").unwrap();
    host_waited(&Moment::default().with(&d, number));
    enqueue(&uses, &a, Access::PerItem, "a").unwrap();
}

#[test]
fn a_moment_is_over_when_the_host_has_waited_for_all_that_comes_before_it() {
    let (a, b) = (queue(), queue());
    let (first, second) = (a.tick(), b.tick());
    b.after(&a.moment());
    let moment = b.moment();
    assert!(!moment.is_over());
    b.host_waited(second, &Moment::default());
    assert!(!moment.is_over());
    a.host_waited(first, &Moment::default());
    assert!(moment.is_over());
}

#[test]
fn a_point_is_behind_what_its_queue_knew_in_its_turn() {
    let (a, b) = (queue(), queue());
    let point = |clock: &Arc<QueueClock>| Stamp { clock, number: clock.tick() }.point();
    let (first, beside) = (point(&a), point(&b));
    b.after(&a.moment());
    let (later, behind) = (point(&a), point(&b));
    assert!(later.is_behind(&first) && !first.is_behind(&later));
    assert!(behind.is_behind(&first) && behind.is_behind(&beside));
    assert!(!beside.is_behind(&first) && !behind.is_behind(&later));
    assert!(!first.is_over());
    a.host_waited(1, &Moment::default());
    assert!(first.is_over() && !later.is_over());
}

#[test]
fn uses_that_are_over_make_room_for_all_that_follow() {
    let (uses, a, b, c) = (Uses::default(), queue(), queue(), queue());
    let mut last = 0;
    for (at, access) in [(0, Access::Read), (1, Access::Shared), (2, Access::Atomic)] {
        last = enqueue_at(&uses, &a, region(at, at + 1), access.into(), "a").unwrap();
    }
    enqueue_at(&uses, &b, region(3, 4), Access::PerItem.into(), "b, which goes on").unwrap();
    a.host_waited(last, &a.known());
    enqueue_at(&uses, &c, region(0, 3), Access::PerItem.into(), "c").unwrap();
    let error = text(enqueue_at(&uses, &c, region(0, 4), Access::PerItem.into(), "c"));
    assert!(error.contains("b, which goes on"), "{error}");
}

#[test]
fn a_later_use_of_the_same_kind_stands_for_the_earlier_one() {
    let (uses, a, b) = (Uses::default(), queue(), queue());
    let first = enqueue(&uses, &a, Access::PerItem, "the first").unwrap();
    enqueue(&uses, &a, Access::PerItem, "the second").unwrap();
    a.host_waited(first, &a.known());
    assert!(text(enqueue(&uses, &b, Access::Read, "b")).contains("the second at"));
}

/// Else a buffer's uses would grow with each operation.
#[test]
fn uses_that_a_later_one_stands_for_are_forgotten() {
    let (uses, a, b) = (Uses::default(), queue(), queue());
    let count = |uses: &Uses| crate::sync::lock(&uses.0).len();
    for _ in 0..3 {
        enqueue(&uses, &a, Access::Read, "a").unwrap();
        enqueue(&uses, &b, Access::Read, "b").unwrap();
    }
    assert_eq!(count(&uses), 2);
    let uses = Uses::default();
    enqueue_at(&uses, &a, region(0, 4), Access::Read.into(), "one half").unwrap();
    enqueue_at(&uses, &a, region(4, 8), Access::Shared.into(), "the other half").unwrap();
    assert_eq!(count(&uses), 2);
    enqueue(&uses, &a, Access::PerItem, "both").unwrap();
    assert_eq!(count(&uses), 1);
}

#[test]
fn uses_of_other_kinds_or_regions_stand_beside_each_other() {
    let (uses, a, b) = (Uses::default(), queue(), queue());
    enqueue_at(&uses, &a, region(0, 4), Access::PerItem.into(), "written").unwrap();
    enqueue(&uses, &a, Access::Read, "read").unwrap();
    enqueue_at(&uses, &a, region(8, 9), Access::Read.into(), "beside").unwrap();
    assert!(text(enqueue_at(&uses, &b, region(0, 4), Access::Read.into(), "b")).contains("written at"));
    assert!(text(enqueue_at(&uses, &b, region(4, 8), Access::PerItem.into(), "b")).contains("read at"));
    assert!(text(enqueue_at(&uses, &b, region(8, 9), Access::PerItem.into(), "b")).contains("beside at"));
}

#[test]
fn guards_hold_what_they_hold_until_they_are_dropped() {
    let (uses, a) = (Uses::default(), queue());
    let reading = hold(&uses, (0, 8), Access::Read, "a guard").unwrap();
    let also = hold(&uses, (0, 8), Access::Read, "a guard").unwrap();
    assert_ne!(reading, also);
    assert!(hold(&uses, (7, 9), Access::PerItem, "a writer").is_err());
    hold(&uses, (8, 9), Access::PerItem, "a writer").unwrap();
    let error = text(enqueue(&uses, &a, Access::PerItem, "a launch"));
    assert!(error.contains("drop the guard first"), "{error}");
    uses.release(reading);
    assert!(enqueue(&uses, &a, Access::PerItem, "a launch").is_err(), "the other guard is still there");
    uses.release(also);
    let number = enqueue(&uses, &a, Access::PerItem, "a launch").unwrap();
    let error = hold(&uses, (0, 8), Access::Read, "a guard").unwrap_err().to_string();
    assert!(error.contains("a launch at") && error.contains("wait for the first"), "{error}");
    a.host_waited(number, &a.known());
    hold(&uses, (0, 8), Access::Read, "a guard").unwrap();
}

#[test]
fn what_is_wrong_between_domains_or_devices_is_said_to_be_that() {
    let (uses, a, b) = (Uses::default(), queue(), queue());
    let at = |device, domain| Sharing { access: Access::Shared, device, domain, below_system: true, mixes: false };
    let shared = |domain| at(0, domain);
    enqueue_at(&uses, &a, region(0, 8), shared(0), "here").unwrap();
    enqueue_at(&uses, &b, region(0, 8), shared(0), "here too").unwrap();
    let error = text(enqueue_at(&uses, &queue(), region(0, 8), shared(1), "there"));
    assert!(error.contains("different memory synchronization domains"), "{error}");
    let error = text(enqueue_at(&uses, &queue(), region(0, 8), at(1, 0), "elsewhere"));
    assert!(error.contains("on different devices") && !error.contains("domains"), "{error}");
    let error = text(enqueue(&uses, &queue(), Access::Atomic, "otherwise"));
    assert!(
        !error.contains("domains") && !error.contains("devices") && error.contains("wait for the first"),
        "{error}"
    );
}

#[test]
fn users_are_named_with_their_parameter() {
    let (uses, a) = (Uses::default(), queue());
    let launch = User { what: "sum", parameter: Some("total"), site: Site::caller() };
    record_one(&uses, &Stamp { clock: &a, number: a.tick() }, region(0, 8), Access::PerItem, launch).unwrap();
    let error = text(enqueue(&uses, &queue(), Access::Read, "a copy"));
    assert!(error.contains("the launch of `sum` at ") && error.contains("(parameter `total`: PerItem)"), "{error}");
}

#[test]
fn two_uses_of_one_operation_are_named_by_their_parameters_if_one_kernel_has_both() {
    let (uses, a) = (Uses::default(), queue());
    let at = Stamp { clock: &a, number: a.tick() };
    let refused = |kernels: [&'static str; 2]| {
        let wanted = [(kernels[0], "x"), (kernels[1], "y")].map(|(what, parameter)| Wanted {
            uses: &uses,
            region: region(0, 8),
            sharing: Access::PerItem.into(),
            user: User { what, parameter: Some(parameter), site: Site::caller() },
        });
        record(&at, &wanted).map_err(error).unwrap_err().to_string()
    };
    let own = refused(["sum", "sum"]);
    assert!(own.contains("its own parameter `x`: PerItem") && !own.contains("(parameter `x`"), "{own}");
    let other = refused(["fill", "sum"]);
    assert!(other.contains("the launch of `fill` at ") && !other.contains("its own parameter"), "{other}");
}
