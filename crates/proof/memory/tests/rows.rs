//! What the rows of the models and of the targets say, and no execution shows.

use wattle_memory::{Model, Scope, Target};

#[test]
fn models() {
    let having = |is: fn(Model) -> bool| Model::ALL.into_iter().filter(|&model| is(model)).collect::<Vec<_>>();
    assert_eq!(having(Model::has_references), [Model::Vulkan]);
    assert_eq!(having(Model::private_cells_order), [Model::Unordered]);
    assert_eq!(having(Model::has_classes), [Model::Vulkan]);
    assert_eq!(having(|model| !model.clocks_order_counters()), [Model::Unordered]);
    assert_eq!(having(Model::orders_observed_additions), [Model::Ptx]);
    assert_eq!(having(|model| model.race_clause().is_none()), [Model::Sc, Model::Unordered]);
    for (model, section) in [
        (Model::Portable, "8.7.1"),
        (Model::Rust, "[intro.races]/21"),
        (Model::Ptx, "8.7.1"),
        (Model::Vulkan, "\"Data Race\""),
    ] {
        assert_eq!(model.race_clause().map(|clause| clause.section), Some(section), "{model}");
    }
}

#[test]
fn targets() {
    let [portable, ptx, vulkan, host] = Target::ALL;
    let forbidding = Target::ALL.map(|target| target.forbids_races(target.model()));
    assert_eq!(forbidding, [true, false, true, false]);
    assert!(!portable.forbids_races(Model::Sc) && !host.forbids_races(Model::Portable));
    let subgroups: &[u32] = &[2, 1, 32, 4, 8, 16, 64, 128];
    assert_eq!(Target::ALL.map(Target::warp_sizes), [subgroups, &[32], subgroups, &[1]]);
    assert_eq!(Target::ALL.map(Target::converging_threads), [None, Some(32), None, None]);
    assert_eq!([portable, ptx, vulkan, host].map(Target::threads_by_frames), [1024, 1024, 1024, 1]);
    assert_eq!(Target::ALL.map(Target::promises_threads), [false, true, false, true]);
    assert_eq!(vulkan.scopes(), [Scope::Block, Scope::Device]);
    assert!([portable, ptx, host].iter().all(|target| target.scopes() == Scope::ALL));
}
