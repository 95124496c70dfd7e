//! Properties of the models themselves, apart from single executions.

use wattle_memory::{Classes, Graph, Label, Level, Model, Placement, Term};

use crate::notation::case;

#[test]
fn names_are_read_back() {
    let names: Vec<String> = Model::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["portable", "ptx", "vulkan", "rust", "sc", "unordered"]);
    for model in Model::ALL {
        assert_eq!(model.name().parse(), Ok(model));
        assert_eq!(format!("{model:>10}"), format!("{:>10}", model.name()));
    }
    assert_eq!(
        "x86".parse::<Model>().unwrap_err().to_string(),
        "there is no memory model `x86`: write portable, ptx, vulkan, rust, sc or unordered"
    );
}

#[test]
fn a_race_is_an_error_where_the_specification_gives_it_no_meaning() {
    let forbidding: Vec<Model> = Model::ALL.into_iter().filter(|model| model.forbids_races()).collect();
    assert_eq!(forbidding, [Model::Portable, Model::Vulkan, Model::Rust]);
    let racing: Vec<Model> = Model::ALL.into_iter().filter(|model| model.has_races()).collect();
    assert_eq!(racing, [Model::Portable, Model::Ptx, Model::Vulkan, Model::Rust]);
}

/// What stories quote: every term that the model's own specification has, in its words.
#[test]
fn terms_are_defined_by_the_specification_of_the_model() {
    use Term::{Acquire, Atomic, Barrier, FenceOrder, InScope, Release, Synchronizes};
    let all = [Atomic, InScope, Release, Acquire, Synchronizes, FenceOrder, Barrier];
    for (model, document, without) in [
        (Model::Portable, "PTX ISA 8.5,", &[][..]),
        (Model::Ptx, "PTX ISA 8.5,", &[]),
        (Model::Vulkan, "Vulkan Memory Model,", &[FenceOrder]),
        (Model::Rust, "C++20", &[Atomic, Barrier]),
        (Model::Sc, "", &all),
        (Model::Unordered, "", &all),
    ] {
        let missing: Vec<Term> = all.into_iter().filter(|&term| model.definition(term).is_none()).collect();
        assert_eq!(missing, without, "{model}");
        let defined = all.iter().filter_map(|&term| Some((term, model.definition(term)?)));
        for (term, clause) in defined {
            assert_eq!(clause.document, document, "{model}, {term:?}");
            let word = match term {
                Atomic | InScope => continue,
                Release => "release",
                Acquire => "acquire",
                Synchronizes => "synchroniz",
                FenceOrder => "order",
                Barrier => "barrier",
            };
            assert!(clause.quote.to_lowercase().contains(word), "{model}, {term:?}: {clause}");
        }
        let race = model.race_clause().map(|clause| clause.document);
        assert_eq!(race, Some(document).filter(|document| !document.is_empty()), "{model}");
    }
}

#[test]
fn fences_have_an_order_of_their_own_in_ptx() {
    let ordering: Vec<Model> = Model::ALL.into_iter().filter(|model| model.orders_fences()).collect();
    assert_eq!(ordering, [Model::Portable, Model::Ptx]);
    let mut graph = Graph::new(vec![Placement::new(0, 0), Placement::new(1, 1)]);
    let sc = Label::fence(Level::Device).sequentially_consistent();
    let both = Label::fence(Level::Device).acquiring().releasing();
    let [a, b] = [(0, sc), (1, sc)].map(|(thread, label)| graph.add(thread, label, 0));
    let [c, d] = [(0, both), (1, both)].map(|(thread, label)| graph.add(thread, label, 1));
    for model in Model::ALL {
        assert_eq!(model.fences_meet(&graph, a, b), matches!(model, Model::Portable | Model::Ptx), "{model}");
        assert!(!model.fences_meet(&graph, a, d) && !model.fences_meet(&graph, c, b), "{model}");
    }
}

#[test]
fn which_writes_have_an_order() {
    let mut graph = Graph::new(vec![Placement::new(0, 0), Placement::new(1, 1)]);
    let location = graph.add_location(0, false);
    let mut write = |thread, label| {
        let id = graph.add(thread, label, 0);
        graph.set_location(id, location, 0);
        id
    };
    let (wide, narrow) = (Label::atomic_write(Level::Device), Label::atomic_write(Level::Block));
    let (a, b) = (write(0, wide), write(1, wide));
    let (c, d) = (write(0, narrow), write(1, Label::plain_write()));
    let orders = |a, b| Model::ALL.map(|model| model.orders_writes(&graph, a, b));
    assert_eq!(orders(a, b), [true; 6]);
    assert_eq!(orders(c, b), [false, false, false, false, true, true]);
    assert_eq!(orders(a, d), [false, false, false, false, true, true]);
    assert_eq!(orders(d, a), [false, false, false, false, true, true]);
}

#[test]
fn a_read_does_not_read_what_is_overwritten_before_it() {
    case(
        "8.10.6, C++20 [intro.races]/18, and the interleaving: what search need not try",
        "P0@0  a: W.rlx.dev x | b: W.rlx.dev x | c: W.rel.dev y
         P1@1  d: R.acq.dev y | e: R.rlx.dev x
         rf c->d
         portable ptx vulkan rust sc: hides a->e
         portable ptx vulkan rust sc: not-hides b->e",
    );
    case(
        "8.10.6: what is not ordered before the read hides nothing",
        "P0@0  a: W.rlx.dev x | b: W.rlx.dev x
         P1@1  e: R.rlx.dev x
         portable ptx vulkan rust sc: not-hides a->e, b->e",
    );
    case(
        "vulkan.cat, fr: a write hides one before it from a racing read only if that is located before the read",
        "P0@0  a: W x | b: W x
         P1@1  d: R x | e: R x
         rf b->d
         vulkan: not-hides a->e
         sc: hides a->e",
    );
    case(
        "vulkan.cat, fr: there it does",
        "P0@0  a: W x | b: W x | d: R x
         vulkan: hides a->d, init->d
         vulkan: not-hides b->d",
    );
    case(
        "vulkan.cat, fr: and the initial value comes before all",
        "P0@0  a: W x
         P1@1  d: R x | e: R x
         rf a->d
         vulkan: hides init->e",
    );
    case(
        "vulkan.cat, fr: as does what the modification order orders, though no location order does",
        "P0@0  a: W.rlx.dev x
         P1@1  b: W.rlx.dev x
         P2@2  d: R.rlx.dev x | e: R x
         rf b->d
         co a->b
         vulkan: hides a->e
         vulkan: not-hides b->e",
    );
}

/// A read finds nothing that comes after what it happens before; under Vulkan's model that needs an acquire about the class of
/// its memory.
#[test]
fn which_reads_find_nothing_later() {
    let places = vec![Placement::new(0, 0), Placement::new(1, 1)];
    let storage = [Classes::BUFFER, Classes::BLOCK];
    let excluding = |change: fn(&mut Label, &mut Label)| {
        let (mut read, mut last) = (Label::plain_read(), Label::fence(Level::Device).acquiring());
        change(&mut read, &mut last);
        let mut graph = Graph::new(places.clone());
        let (read, last) = (graph.add(0, read, 0), graph.add(1, last, 1));
        Model::ALL.into_iter().filter(|model| model.excludes_later_writes(&graph, read, last)).collect::<Vec<_>>()
    };
    let others = [Model::Portable, Model::Ptx, Model::Rust, Model::Sc];
    let all = [Model::Portable, Model::Ptx, Model::Vulkan, Model::Rust, Model::Sc];
    assert_eq!(excluding(|_, _| {}), all);
    assert_eq!(excluding(|_, last| *last = Label::barrier(Level::Block)), all);
    assert_eq!(excluding(|read, last| (read.storage, last.semantics) = (Classes::BLOCK, Classes::BOTH)), all);
    assert_eq!(excluding(|_, last| last.acquire = false), others);
    assert_eq!(excluding(|_, last| *last = Label::atomic_read(Level::Device).acquiring()), others);
    assert_eq!(excluding(|read, _| read.private = true), others);
    assert_eq!(excluding(|read, _| read.semantics = Classes::BUFFER), others);
    for [of, about] in [storage, [storage[1], storage[0]]] {
        let mut graph = Graph::new(places.clone());
        let read = graph.add(0, Label { storage: of, ..Label::plain_read() }, 0);
        let last = graph.add(1, Label { semantics: about, ..Label::fence(Level::Device).acquiring() }, 1);
        assert!(!Model::Vulkan.excludes_later_writes(&graph, read, last));
    }
}

/// A read that is made again and again sees what is written in the end, unless the two race and may.
#[test]
fn which_reads_come_to_see_a_write() {
    let seeing = |read: Label, write: Label| {
        let mut graph = Graph::new(vec![Placement::new(0, 0), Placement::new(1, 1)]);
        let location = graph.add_location(0, false);
        let (read, write) = (graph.add(0, read, 0), graph.add(1, write, 1));
        [read, write].into_iter().for_each(|event| graph.set_location(event, location, 0));
        Model::ALL.into_iter().filter(|model| model.comes_to_see(&graph, read, write)).collect::<Vec<_>>()
    };
    let atomic = seeing(Label::atomic_read(Level::Device), Label::atomic_write(Level::Device));
    assert_eq!(atomic, Model::ALL);
    let but_ptx: Vec<Model> = Model::ALL.into_iter().filter(|&model| model != Model::Ptx).collect();
    assert_eq!(seeing(Label::plain_read(), Label::atomic_write(Level::Device)), but_ptx);
    assert_eq!(seeing(Label::atomic_read(Level::Device), Label::atomic_write(Level::Block)), but_ptx);
}
