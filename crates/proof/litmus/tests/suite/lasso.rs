//! The liveness judge on programs that show one thing each.

use wattle_check::search::{Limits, Setup, Stopped};
use wattle_litmus::lasso::{self, LassoError, Liveness, Stuck};
use wattle_litmus::{Answer, Divided, Options, Progress, Question, World, judge as judge_it, parse};
use wattle_memory::Model;

fn judge(text: &str, progress: Progress) -> Liveness {
    let program = parse("test", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let world = World::new(program);
    lasso::liveness(&world.setup(Model::Sc), &Divided::default(), progress, 10_000).unwrap()
}

fn ends(text: &str) -> Vec<Progress> {
    Progress::ALL.into_iter().filter(|&progress| matches!(judge(text, progress), Liveness::Ends { .. })).collect()
}

#[test]
fn a_loop_without_memory_never_ends() {
    let stuck = judge("PTX x {} P0@cta 0,gpu 0 ; L: ; goto L ;", Progress::Fair);
    assert_eq!(stuck, Liveness::Stuck(Stuck::Round { running: vec![0], waiting: vec![] }));
}

#[test]
fn a_thread_that_skips_the_barrier_leaves_the_other_there() {
    let text = "PTX x { P1:r0=1; }
        P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
        bar.cta.sync 0 | bne r0, 0, end ;
                       | bar.cta.sync 0 ;
                       | end:           ;";
    assert_eq!(judge(text, Progress::Fair), Liveness::Stuck(Stuck::AtBarriers(vec![0])));
}

#[test]
fn who_only_arrives_goes_on() {
    let text = "PTX x {}
        P0@cta 0,gpu 0   | P1@cta 0,gpu 0 ;
        bar.cta.arrive 0 | bar.cta.sync 0 ;
        st.weak x, 1     |                ;";
    assert_eq!(ends(text), Progress::ALL);
}

#[test]
fn a_barrier_in_a_loop_opens_each_time() {
    let text = "Vulkan x {}
        P0@sg 0,wg 0,qf 0 | P1@sg 1,wg 0,qf 0 ;
        again:            | again:            ;
        add r0, r0, 1     | add r0, r0, 1     ;
        cbar.wg 0         | cbar.wg 0         ;
        blt r0, 3, again  | blt r0, 3, again  ;";
    assert_eq!(ends(text), Progress::ALL);
}

#[test]
fn barriers_of_blocks_are_their_own() {
    let text = "PTX x {}
        P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
        bar.cta.sync 0 | bar.cta.sync 0 ;";
    assert_eq!(ends(text), Progress::ALL);
    let quorum = "PTX x {}
        P0@cta 0,gpu 0       | P1@cta 1,gpu 0       ;
        bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 ;";
    assert_eq!(ends(quorum), []);
}

#[test]
fn who_waits_elsewhere_is_not_let_go() {
    // P0 has passed the barrier of two, and waits at another one that P1 never reaches.
    let text = "PTX x {}
        P0@cta 0,gpu 0       | P1@cta 0,gpu 0       | P2@cta 0,gpu 0       ;
        bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 ;
        bar.cta.sync 1, 1, 2 |                      |                      ;";
    assert_eq!(judge(text, Progress::Fair), Liveness::Stuck(Stuck::AtBarriers(vec![0])));
    let text = "PTX x {}
        P0@cta 0,gpu 0       | P1@cta 0,gpu 0 ;
        bar.cta.arrive 0     | bar.cta.sync 0 ;
        bar.cta.sync 1, 1, 2 |                ;";
    assert_eq!(judge(text, Progress::Fair), Liveness::Stuck(Stuck::AtBarriers(vec![0])));
}

#[test]
fn later_arrivals_pass_a_full_barrier() {
    let text = "PTX x {}
        P0@cta 0,gpu 0       | P1@cta 0,gpu 0       | P2@cta 0,gpu 0       ;
        bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 | bar.cta.sync 0, 0, 2 ;";
    assert_eq!(ends(text), Progress::ALL);
}

/// A program in which P0 waits for P1.
fn waiting_for(placement: [&str; 2]) -> String {
    let [waiter, helper] = placement;
    format!(
        "Vulkan x {{}}
        P0@{waiter}           | P1@{helper}          ;
        L:                    | st.atom.dv.sc0 x, 1  ;
        ld.atom.dv.sc0 r0, x  |                      ;
        beq r0, 0, L          |                      ;"
    )
}

#[test]
fn promises_hold_between_groups_by_the_groups_numbers() {
    // The thread in the lower group is promised progress by hsa, and by lobe as soon as the other has started.
    for (low, high) in [
        ("sg 0,wg 0,qf 0", "sg 1,wg 0,qf 0"),
        ("sg 5,wg 0,qf 0", "sg 0,wg 1,qf 0"),
        ("sg 5,wg 5,qf 0", "sg 0,wg 0,qf 1"),
    ] {
        assert_eq!(ends(&waiting_for([low, high])), [Progress::Fair], "{low} waits for {high}");
        let helped = [Progress::Fair, Progress::Hsa, Progress::Lobe, Progress::HsaObe];
        assert_eq!(ends(&waiting_for([high, low])), helped, "{high} waits for {low}");
    }
}

#[test]
fn what_started_goes_on_under_obe() {
    // P1 only waits once P0 has started.
    let text = "Vulkan x {}
        P0@sg 0,wg 0,qf 0    | P1@sg 0,wg 1,qf 0    ;
        st.atom.dv.sc0 x, 1  | ld.atom.dv.sc0 r0, x ;
        st.atom.dv.sc0 x, 2  | beq r0, 0, end       ;
                             | L:                   ;
                             | ld.atom.dv.sc0 r0, x ;
                             | bne r0, 2, L         ;
                             | end:                 ;";
    assert_eq!(ends(text), Progress::ALL);
}

#[test]
fn too_many_states_are_not_a_verdict() {
    let text = "PTX x {} P0@cta 0,gpu 0 ; L: ; add r0, r0, 1 ; st.weak x, r0 ; goto L ;";
    assert_eq!(judge(text, Progress::Fair), Liveness::Unknown { states: 10_000 });
}

#[test]
fn too_many_threads_are_said() {
    let header: Vec<String> = (0..65).map(|number| format!("P{number}@cta 0,gpu 0")).collect();
    let program = parse("test", &format!("PTX x {{}} {} ; st.weak x, 1 ;", header.join("|"))).unwrap();
    let world = World::new(program);
    let error = lasso::liveness(&world.setup(Model::Sc), &Divided::default(), Progress::Fair, 10).unwrap_err();
    assert_eq!(error, LassoError::TooManyThreads(65));
}

#[test]
fn a_limit_that_was_reached_is_no_answer() {
    let program =
        parse("ends", "PTX ends\n{\nx=0;\n}\n P0@cta 0,gpu 0 ;\n st.relaxed.gpu x, 1 ;\nexists (x == 1)\n").unwrap();
    let world = World::new(program);
    let limits = Limits { cancelled: Some(std::sync::Arc::new(true.into())), ..Limits::default() };
    let setup = Setup { limits, ..world.setup(Model::Sc) };
    let verdict = lasso::liveness(&setup, &Divided::default(), Progress::Fair, 1 << 20).unwrap();
    assert_eq!(verdict, Liveness::Stopped { why: Stopped::Cancelled, states: 1 });
}

/// The same threads with the unlock, its scope and the lock's as given: whether every run ends under a model.
fn unlock(unlock: &str, lock: &str, model: Model) -> Answer {
    let text = format!(
        "PTX unlock\n{{ l=1; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n {unlock} | L: ;\n | {lock} ;\n | bne r1, 0, L ;\n\
         exists (l == 0)\n"
    );
    let world = World::new(parse("unlock", &text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    judge_it(&world, model, Question::Liveness(Progress::Fair), &Options::default()).unwrap().answer
}

/// PTX ISA 8.5, 8.10.3: a write that is not morally strong with an exchange can come between its halves and be lost, and
/// then the lock is never seen open.
#[test]
fn an_unlock_that_an_exchange_can_swallow() {
    for (store, lock, model, ends) in [
        ("st.relaxed.gpu l, 0", "atom.relaxed.gpu.exch r1, l, 1", Model::Ptx, true),
        ("st.relaxed.cta l, 0", "atom.relaxed.cta.exch r1, l, 1", Model::Ptx, false),
        ("st.relaxed.cta l, 0", "atom.relaxed.cta.exch r1, l, 2", Model::Ptx, false),
        ("st.relaxed.cta l, 0", "atom.relaxed.gpu.exch r1, l, 1", Model::Ptx, false),
        ("st.weak l, 0", "atom.relaxed.gpu.exch r1, l, 1", Model::Ptx, false),
        ("st.weak l, 0", "atom.relaxed.gpu.cas r1, l, 0, 1", Model::Ptx, false),
        ("st.weak l, 0", "atom.relaxed.gpu.or r1, l, 0", Model::Ptx, false),
        ("st.weak l, 0", "ld.relaxed.gpu r1, l", Model::Ptx, true),
        ("st.relaxed.cta l, 0", "atom.relaxed.cta.exch r1, l, 1", Model::Portable, false),
        ("st.relaxed.gpu l, 0", "atom.relaxed.gpu.exch r1, l, 1", Model::Rust, true),
        ("st.relaxed.cta l, 0", "atom.relaxed.cta.exch r1, l, 1", Model::Sc, true),
        ("st.weak l, 0", "atom.relaxed.gpu.exch r1, l, 1", Model::Sc, true),
    ] {
        let wanted = if ends { Answer::Yes } else { Answer::No };
        assert_eq!(unlock(store, lock, model), wanted, "{store} beside {lock} under {model}");
    }
}
