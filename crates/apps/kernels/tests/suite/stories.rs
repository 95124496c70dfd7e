//! The stories of broken scenarios, and their pictures.

use wattle_check::checker::{Checker, Report, Violation};
use wattle_check::story::{self, SvgOptions};
use wattle_kernels::find;
use wattle_memory::{Model, Target};

fn report(name: &str) -> Report {
    let scenario = find(name).unwrap_or_else(|| panic!("no scenario {name}"));
    Checker::new(Model::Portable).check_scenario(scenario, None).expect("it can be checked")
}

fn told(name: &str) -> String {
    let report = report(name);
    let stories: Vec<String> =
        report.violations.iter().map(|violation| story::tell(violation, &report).to_string()).collect();
    assert!(!stories.is_empty(), "{name} is refuted");
    stories.join("\n")
}

fn picture(violation: &Violation) -> String {
    let witness = violation.witness().expect("an execution");
    story::svg(witness, &SvgOptions { violation: Some(violation), ..SvgOptions::default() })
}

/// What breaks in each of them is different.
const BROKEN: [&str; 10] = [
    "block-fence-textbook",
    "publication-broken-no-release",
    "publication-broken-no-acquire",
    "publication-broken-block-scope",
    "publication-broken-plain-flag",
    "swap-broken-fence-only",
    "store-buffering-broken-acq-rel",
    "cumulativity-broken-relaxed",
    "last-block-sum-textbook",
    "lock-ticket-broken-relaxed",
];

#[test]
fn stories_of_broken_scenarios() {
    for name in BROKEN {
        insta::assert_snapshot!(name, told(name));
    }
}

#[test]
fn lines_are_as_wide_as_they_may_be() {
    let report = report("cumulativity-broken-relaxed");
    for violation in &report.violations {
        for width in [60, 80, 110, 160] {
            let text = story::tell(violation, &report).render(width, &|_, piece| piece.to_owned());
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= width, "{widest} > {width}:\n{text}");
        }
    }
}

#[test]
fn pictures_are_well_formed_and_no_text_lies_on_another() {
    for scenario in wattle_kernels::all().iter().filter(|scenario| scenario.expectation == wattle::Expectation::Refuted)
    {
        let report = report(scenario.name);
        for violation in &report.violations {
            let svg = picture(violation);
            well_formed(scenario.name, &svg);
            let boxes = areas(&svg, "rx=\"6\"");
            let texts: Vec<Area> = svg.lines().filter(|line| line.starts_with("<text")).map(text_area).collect();
            assert!(!boxes.is_empty() && !texts.is_empty(), "{} has boxes and texts", scenario.name);
            apart(scenario.name, "boxes", &boxes);
            apart(scenario.name, "texts", &texts);
        }
    }
}

#[test]
fn the_picture_of_an_execution_that_holds() {
    let report = report("store-buffering");
    assert!(report.violations.is_empty());
    let witness = report.witnesses.values().next().expect("an execution for each outcome");
    let svg = story::svg(witness, &SvgOptions::default());
    well_formed("store-buffering", &svg);
    assert!(svg.contains("block 0") && svg.contains("block 1"));
}

#[derive(Clone, Copy, Debug)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

fn apart(name: &str, what: &str, areas: &[Area]) {
    for (at, a) in areas.iter().enumerate() {
        for b in &areas[at + 1..] {
            let meet = a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
            assert!(!meet, "{name}: two {what} meet: {a:?} and {b:?}");
        }
    }
}

fn attribute(tag: &str, name: &str) -> f64 {
    let start = tag.find(&format!(" {name}=\"")).expect("the attribute") + name.len() + 3;
    let end = start + tag[start..].find('"').expect("its end");
    tag[start..end].parse().expect("a number")
}

fn areas(svg: &str, mark: &str) -> Vec<Area> {
    let rectangles = svg.lines().filter(|line| line.starts_with("<rect") && line.contains(mark));
    rectangles
        .map(|tag| Area {
            x: attribute(tag, "x"),
            y: attribute(tag, "y"),
            width: attribute(tag, "width"),
            height: attribute(tag, "height"),
        })
        .collect()
}

/// The text's extent, by an estimate of its letters' widths that is a little less than they are.
fn text_area(tag: &str) -> Area {
    let size = attribute(tag, "font-size");
    let words = tag.split_once('>').and_then(|(_, rest)| rest.split_once('<')).expect("a text").0;
    let words = words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let width = words.chars().count() as f64 * size * 0.6;
    let x = attribute(tag, "x");
    let x = if tag.contains("\"middle\"") {
        x - width / 2.0
    } else if tag.contains("\"end\"") {
        x - width
    } else {
        x
    };
    Area { x, y: attribute(tag, "y") - size * 0.75, width, height: size * 0.9 }
}

/// Every tag is closed by its own name, and attributes are quoted.
fn well_formed(name: &str, svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "{name}: a bare > in {:?}", &rest[..start]);
        let end = start + rest[start..].find('>').unwrap_or_else(|| panic!("{name}: a tag has no end"));
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        assert!(tag.matches('"').count().is_multiple_of(2), "{name}: quotes of {tag}");
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{name}");
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().expect("a name"));
        }
    }
    assert!(open.is_empty(), "{name}: {open:?} are not closed");
    assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{name}: coordinates are numbers");
}

/// Scenarios that go wrong without a race.
mod mistakes {
    use wattle::prelude::*;

    use super::*;

    /// The first block waits for the last one.
    #[kernel]
    fn wait_for_later(acc: &Acc, flag: Atomic<u32>) {
        if acc.block_in_grid() == 0 {
            while flag.load(0) == 0 {}
        } else {
            flag.store(0, 1);
        }
    }

    /// One thread of two goes to the barrier.
    #[kernel]
    fn half_a_barrier(acc: &Acc, flag: Atomic<u32>) {
        if acc.thread_in_block() == 0 {
            acc.sync_block();
        } else {
            flag.store(0, 1);
        }
    }

    /// No thread writes what is read.
    #[kernel]
    fn read_unwritten(acc: &Acc, from: Shared<u32>, to: Shared<u32>) {
        let value = from[0];
        to[acc.thread_in_grid()] = value;
    }

    /// A thread uses an index beyond the end.
    #[kernel]
    fn beyond(acc: &Acc, to: Shared<u32>) {
        to[acc.thread_in_grid() + 1] = 7;
    }

    fn story(scenario: impl Fn(&Device) -> Result<()>) -> String {
        let report = Checker::new(Model::Portable).check(scenario).expect("it can be checked");
        let violation = report.violations.first().expect("it is refuted");
        let svg = picture(violation);
        well_formed("a mistake", &svg);
        story::tell(violation, &report).to_string()
    }

    #[test]
    fn a_block_that_waits_for_a_later_one() {
        insta::assert_snapshot!(story(|device| {
            let queue = device.queue()?;
            let flag = device.alloc_zeroed::<u32>(1)?;
            queue.launch(ThreadSpec::new(2, 1), wait_for_later(&flag))?;
            queue.wait()
        }));
    }

    #[test]
    fn a_barrier_that_one_thread_never_reaches() {
        insta::assert_snapshot!(story(|device| {
            let queue = device.queue()?;
            let flag = device.alloc_zeroed::<u32>(1)?;
            queue.launch(ThreadSpec::new(1, 2), half_a_barrier(&flag))?;
            queue.wait()
        }));
    }

    #[test]
    fn memory_that_nobody_has_written() {
        insta::assert_snapshot!(story(|device| {
            let queue = device.queue()?;
            let (from, to) = (device.alloc::<u32>(1)?, device.alloc::<u32>(2)?);
            queue.launch(ThreadSpec::new(2, 1), read_unwritten(&from, &to))?;
            queue.wait()
        }));
    }

    #[test]
    fn an_index_beyond_the_end() {
        insta::assert_snapshot!(story(|device| {
            let queue = device.queue()?;
            let to = device.alloc_zeroed::<u32>(2)?;
            queue.launch(ThreadSpec::new(2, 1), beyond(&to))?;
            queue.wait()
        }));
    }

    /// A shuffle hands a value over, and nothing that was stored before it.
    #[kernel]
    fn only_a_shuffle(acc: &Acc, to: PerItem<u32>) {
        let tile = acc.shared::<u32, 2>();
        let lane = acc.thread_in_block();
        tile[lane] = lane + 1;
        let first = acc.warp().shuffle(lane, 0);
        for (i, to) in acc.items(&mut to) {
            *to = tile[i ^ 1] + first;
        }
    }

    #[test]
    fn what_lanes_exchange_is_no_fence() {
        let scenario = |device: &Device| {
            let queue = device.queue()?;
            let mut to = device.alloc_zeroed::<u32>(2)?;
            let options = LaunchOptions::new().warp_size(2);
            queue.launch_with(options, ThreadSpec::new(1, 2), only_a_shuffle(&mut to))?;
            queue.wait()
        };
        let report = Checker::new(Model::Portable).check(scenario).expect("it can be checked");
        let story = story::tell(report.violations.first().expect("it is refuted"), &report).to_string();
        let said = story.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains("What stands between is the operation of the warp at line")
                && said.contains("orders no memory"),
            "{story}"
        );
        assert!(!said.contains("is the fence at"), "{story}");
    }
}

/// A story quotes the specification of the model that it is told under, and no other.
#[test]
fn a_story_quotes_the_specification_of_its_model() {
    let quoted = |target: Target| {
        let mut documents = Vec::new();
        for name in BROKEN {
            let scenario = find(name).unwrap_or_else(|| panic!("no scenario {name}"));
            // What a target cannot run has no story.
            let Ok(report) = Checker::for_target(target).check_scenario(scenario, None) else { continue };
            let stories = report.violations.iter().map(|violation| story::tell(violation, &report));
            documents.extend(stories.flat_map(|story| story.clauses).map(|clause| clause.document));
        }
        documents.sort_unstable();
        documents.dedup();
        documents
    };
    assert_eq!(quoted(Target::Ptx { sm: 90 }), ["PTX ISA 8.5,"]);
    assert_eq!(quoted(Target::Host), ["C++20"]);
    assert_eq!(quoted(Target::Vulkan), ["Vulkan Memory Model,"]);
    assert_eq!(quoted(Target::Portable), ["PTX ISA 8.5,"]);
}
