//! The actions that a litmus thread returns to the search.

use wattle_check::search::{Action, Address, Change, Members, Memory, Process, Written};
use wattle_litmus::{DIVISION_BY_ZERO, LitmusThread, World, parse};
use wattle_memory::{Classes, Kind, Label, Level};

fn world(text: &str) -> World {
    World::new(parse("test", text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

fn ptx(code: &str) -> World {
    world(&format!("PTX x {{ x=5; }} P0@cta 0,gpu 0 ; {code}"))
}

fn first(world: &World) -> LitmusThread {
    world.threads().remove(0)
}

fn vulkan_label(mnemonic: &str, operands: &str) -> Label {
    let world = world(&format!("Vulkan x {{}} P0@sg 0,wg 0,qf 0 ; {mnemonic} {operands} ;"));
    match first(&world).next(&world) {
        Action::Read { label, .. } | Action::Write { label, .. } | Action::Fence { label, .. } => label,
        Action::Barrier { label, .. } => label,
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_that_are_not_known_go_through_arithmetic_up_to_where_they_matter() {
    let world = ptx("ld.relaxed.gpu r0, x ; add r1, r0, 1 ; st.relaxed.gpu x, r1 ; beq r1, 3, end ; end: ;");
    let mut thread = first(&world);
    assert!(matches!(thread.next(&world), Action::Read { target: Some(_), .. }));
    thread.answer(&world, None);
    assert!(thread.any_pending());
    assert!(matches!(thread.next(&world), Action::Write { value: None, .. }));
    assert_eq!(thread.next(&world), Action::NeedsValue);
    assert_eq!(thread.next(&world), Action::NeedsValue);
}

#[test]
fn what_is_dead_at_the_end_is_not_pending() {
    let world = world("PTX x {} P0@cta 0,gpu 0 ; ld.weak r0, x ; ld.weak r1, x ; exists (P0:r1 == 0)");
    let mut thread = first(&world);
    for value in [None, Some(4)] {
        thread.next(&world);
        thread.answer(&world, value);
    }
    assert_eq!(thread.next(&world), Action::Done);
    assert!(!thread.any_pending());
    assert_eq!((thread.register(0), thread.register(1)), (Some(0), Some(4)));
}

#[test]
fn rounds_of_a_loop_look_alike_where_nothing_is_carried_over() {
    let world = ptx("ld r3, 1 ; L: ; ld.relaxed.gpu r0, x ; add r1, r0, r0 ; bne r1, 2, L ; st.weak x, r3 ;");
    let mut thread = first(&world);
    assert_eq!(thread.next(&world), Action::LoopHead { label: 1 });
    let before = thread.clone();
    for value in [7, 9] {
        assert!(matches!(thread.next(&world), Action::Read { .. }));
        thread.answer(&world, Some(value));
        assert_eq!(thread.next(&world), Action::BackEdge { label: 1, source: 3, waits: true, ends: false });
        assert_eq!(thread, before);
    }
    thread.next(&world);
    thread.answer(&world, Some(1));
    assert!(matches!(thread.next(&world), Action::Write { value: Some(1), .. }));
}

#[test]
fn a_count_that_is_carried_over_tells_rounds_apart() {
    let world = ptx("L: ; add r0, r0, 1 ; blt r0, 3, L ;");
    let mut thread = first(&world);
    thread.next(&world);
    let before = thread.clone();
    assert_eq!(thread.next(&world), Action::BackEdge { label: 0, source: 1, waits: true, ends: false });
    assert_ne!(thread, before);
    assert_eq!(thread.next(&world), Action::BackEdge { label: 0, source: 1, waits: true, ends: false });
    assert_eq!(thread.next(&world), Action::Done);
}

#[test]
fn a_failed_compare_exchange_writes_back_in_ptx_alone() {
    let change = |world: &World| match first(world).next(world) {
        Action::Update { change, .. } => change,
        other => panic!("{other:?}"),
    };
    let of_ptx = change(&ptx("atom.acquire.cta.cas r0, x, 1, 2 ;"));
    assert_eq!(of_ptx.written(Some(5)), Written::Value(5));
    assert_eq!(of_ptx.written(Some(1)), Written::Value(2));
    let vulkan = world("Vulkan x {} P0@sg 0,wg 0,qf 0 ; rmw.atom.wg.sc0.cas r0, x, 1, 2 ;");
    assert_eq!(change(&vulkan).written(Some(5)), Written::Nothing);
    let exchange = world("Vulkan x {} P0@sg 0,wg 0,qf 0 ; rmw.atom.wg.sc0 r0, x, 4 ;");
    assert!(matches!(change(&exchange), Change::Apply { .. }));
    assert_eq!(change(&exchange).written(None), Written::Value(4));
}

#[test]
fn an_atomic_acquires_where_it_reads_and_releases_where_it_writes() {
    let halves = |world: &World| match first(world).next(world) {
        Action::Update { read, write, .. } => (read, write),
        other => panic!("{other:?}"),
    };
    let (read, write) = halves(&ptx("red.acq_rel.sys.add x, 1 ;"));
    assert!(read.acquire && !read.release && write.release && !write.acquire && read.atomic && write.atomic);
    assert_eq!(
        (read.kind, write.kind, read.level, write.level),
        (Kind::Read, Kind::Write, Level::System, Level::System)
    );
    assert!(!read.reduces, "it acquires");
    // What a reduction reads nobody looks at, so that no fence behind it acquires by it (PTX ISA 8.8, 8.8).
    let (reduction, _) = halves(&ptx("red.relaxed.sys.add x, 1 ;"));
    assert!(reduction.reduces && !reduction.acquire);
    let (read, write) = halves(&ptx("atom.add r0, x, 1 ;"));
    assert!(!read.acquire && !write.release && !read.reduces);
    assert_eq!(read.level, Level::Device);
    let (read, write) = halves(&world(
        "Vulkan x {} P0@sg 0,wg 0,qf 0 ; rmw.atom.acq_rel.qf.sc1.semsc0.semsc1.semav.semvis.add r0, x, 1 ;",
    ));
    assert!(read.makes_visible && !read.makes_available && write.makes_available && !write.makes_visible);
    assert!(read.coherent && write.coherent && !read.private);
    assert_eq!((read.storage, read.semantics, write.semantics), (Classes(2), Classes(3), Classes(3)));
}

#[test]
fn vulkan_accesses_have_the_flags_that_the_formal_model_implies() {
    let plain = vulkan_label("st.sc0", "x, 1");
    assert!(plain.private && !plain.coherent && !plain.atomic);
    let non_private = vulkan_label("st.nonpriv.sc0", "x, 1");
    assert!(!non_private.private && !non_private.coherent);
    let available = vulkan_label("st.av.qf.sc1", "x, 1");
    assert!(!available.private && available.coherent && !available.atomic);
    assert_eq!((available.level, available.storage), (Level::QueueFamily, Classes(2)));
    let atomic = vulkan_label("ld.atom.acq.wg.sc0.semsc1.semvis", "r0, x");
    assert!(!atomic.private && atomic.coherent && atomic.atomic && atomic.acquire && atomic.makes_visible);
    assert_eq!((atomic.level, atomic.semantics), (Level::Block, Classes(2)));
    let fence = vulkan_label("membar.rel.dv.semsc0.semsc2.semav", "");
    assert!(fence.release && !fence.acquire && fence.makes_available && !fence.makes_visible);
    assert_eq!((fence.kind, fence.semantics), (Kind::Fence, Classes(5)));
    let wait = vulkan_label("cbar.sg", "3");
    assert!(!wait.acquire && !wait.release && wait.kind == Kind::Barrier);
    assert_eq!(vulkan_label("avdevice", "").kind, Kind::MakeAvailable);
    assert_eq!(vulkan_label("visdevice", "").kind, Kind::MakeVisible);
}

#[test]
fn ptx_accesses_are_weak_or_strong() {
    let label = |code: &str| match first(&ptx(code)).next(&ptx(code)) {
        Action::Read { label, .. } | Action::Write { label, .. } | Action::Fence { label, .. } => label,
        other => panic!("{other:?}"),
    };
    assert!(!label("ld r0, x ;").atomic && !label("st x, 1 ;").atomic && !label("ld.weak r0, x ;").atomic);
    let volatile = label("ld.volatile r0, x ;");
    assert!(volatile.atomic && !volatile.acquire && volatile.level == Level::System);
    assert!(label("ld.acquire.cta r0, [x] ;").acquire);
    assert!(label("st.release.gpu x, 1 ;").release);
    let sc = label("fence.sc.gpu ;");
    assert!(sc.sc && sc.acquire && sc.release);
    assert_eq!(label("membar.gl ;"), sc);
    assert!(label("fence.release.sys ;").release && !label("fence.release.sys ;").acquire);
}

#[test]
fn barriers_know_who_has_to_come() {
    let world = world(
        "Vulkan x { P0:r0=7; }
        P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 0,qf 0 | P2@sg 1,wg 0,qf 0 | P3@sg 0,wg 1,qf 0 ;
        cbar.wg 1, r0     | cbar.sg 2         | cbar.wg 1         | cbar.wg 1, 0, 2   ;
        cbar.sg 2         |                   | cbar.sg 2         |                   ;",
    );
    let barriers: Vec<_> = world
        .threads()
        .iter_mut()
        .map(|thread| match thread.next(&world) {
            Action::Barrier { barrier, .. } => barrier,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(barriers[0].members, Members::Threads([0, 2].into()));
    assert_eq!((barriers[0].instance, barriers[0].resource), (1, 7));
    assert_eq!(barriers[1].members, Members::Threads([0, 1].into()));
    assert_eq!(barriers[1].resource, 2);
    assert_eq!(barriers[2].members, Members::Threads([0, 2].into()));
    assert_eq!(barriers[3].members, Members::Quorum(2));
}

#[test]
fn a_barrier_whose_resource_is_not_known_waits_for_the_value() {
    let world = ptx("ld.weak r0, x ; bar.cta.sync 1, r0 ;");
    let mut thread = first(&world);
    thread.next(&world);
    thread.answer(&world, None);
    assert_eq!(thread.next(&world), Action::NeedsValue);
}

#[test]
fn division_by_zero_is_told_and_gives_zero() {
    let world = ptx("div r0, 4, r1 ; st.weak x, r0 ;");
    let mut thread = first(&world);
    assert_eq!(thread.next(&world), Action::Fault { fault: DIVISION_BY_ZERO, source: 0 });
    assert!(matches!(thread.next(&world), Action::Write { value: Some(0), .. }));
}

#[test]
fn aliases_are_one_cell_by_several_names() {
    let world =
        world("Vulkan x { y aliases x; x=3; z=1; } P0@sg 0,wg 0,qf 0 ; ld.sc0 r0, x ; ld.sc0 r1, y ; ld.sc0 r2, z ;");
    let mut thread = first(&world);
    let mut targets = Vec::new();
    for _ in 0..3 {
        let Action::Read { target: Some(target), .. } = thread.next(&world) else { panic!("no read") };
        targets.push(target);
        thread.answer(&world, Some(0));
    }
    assert_eq!(targets[0].address, targets[1].address);
    assert_ne!(targets[0].reference, targets[1].reference);
    assert_ne!(targets[0].address, targets[2].address);
    assert_eq!(world.initial(targets[1].address).value, 3);
}

#[test]
fn what_a_thread_may_still_write_shrinks() {
    let world = ptx("L: ; ld.weak r0, x ; beq r0, 0, L ; st.weak x, 1 ; ld.weak r1, y ;");
    let mut thread = first(&world);
    let (x, y) = (Address { memory: 0, element: 0 }, Address { memory: 1, element: 0 });
    assert!(thread.may_write(&world, x) && !thread.may_write(&world, y));
    thread.next(&world);
    thread.next(&world);
    thread.answer(&world, Some(1));
    assert!(matches!(thread.next(&world), Action::Write { .. }));
    assert!(!thread.may_write(&world, x));
}

#[test]
fn sources_lead_back_to_lines() {
    let world = world("PTX x {}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n st.weak x, 1 | L: ;\n | ld.weak r0, x ;\n");
    let mut second = world.threads().remove(1);
    let Action::Read { source, .. } = second.next(&world) else { panic!("no read") };
    let place = world.program().place(source).unwrap();
    assert_eq!((place.line, place.column), (4, 4));
    assert_eq!(world.program().place(7), None);
}
