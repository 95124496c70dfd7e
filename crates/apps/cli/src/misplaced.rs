//! Options of `check` that do not apply to what it is given: an error, since whoever gives one relies on it.

use wattle::memory::Target;

use crate::args::CheckArgs;
use crate::check_module;
use crate::exit::Input;
use crate::module_launch::ModuleArgs;

/// What `check` can be given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Scenario,
    Litmus,
    Module,
}

impl Subject {
    fn of(name: &str) -> Subject {
        if check_module::is_module(name) {
            Subject::Module
        } else if name.ends_with(".litmus") {
            Subject::Litmus
        } else {
            Subject::Scenario
        }
    }

    fn text(self) -> &'static str {
        match self {
            Subject::Scenario => "a scenario",
            Subject::Litmus => "a litmus file",
            Subject::Module => "a PTX or SPIR-V module",
        }
    }
}

/// The error of the first option that is given and applies to nothing that is, or contradicts another.
pub fn misplaced(args: &CheckArgs) -> Option<Input> {
    applies_to_nothing(args).or_else(|| other_dialect(args))
}

/// The error of a litmus file that is asked for in another language than the target's.
fn other_dialect(args: &CheckArgs) -> Option<Input> {
    let (dialect, target) = (args.emit_litmus.as_deref()?, args.target?);
    let is_its = match target {
        Target::Ptx { .. } => dialect == "ptx",
        Target::Vulkan => dialect == "vulkan",
        Target::Portable | Target::Host => true,
    };
    (!is_its).then(|| {
        let message =
            format!("`--emit-litmus {dialect}` writes no form of `--target {target}`: leave one of the two out");
        Input::new("option", message)
    })
}

fn applies_to_nothing(args: &CheckArgs) -> Option<Input> {
    use Subject::{Litmus, Module, Scenario};
    let ModuleArgs { entry, grid, block, arguments, dynamic_shared, asserted, volatile_is_plain } = &args.module;
    let options: [(&str, bool, &[Subject]); 15] = [
        ("--size", args.size.is_some(), &[Scenario]),
        ("--plain-as-relaxed", args.plain_as_relaxed, &[Scenario]),
        ("--emitted", args.emitted, &[Scenario]),
        ("--no-symmetry", args.no_symmetry, &[Scenario]),
        ("--svg", args.svg.is_some(), &[Scenario]),
        ("--emit-litmus", args.emit_litmus.is_some(), &[Scenario]),
        ("--sample", args.sample.is_some(), &[Scenario]),
        ("--progress", args.progress.is_some(), &[Scenario, Litmus, Module]),
        ("--entry", entry.is_some(), &[Module]),
        ("--grid", grid.is_some(), &[Module]),
        ("--block", block.is_some(), &[Module]),
        ("--arg", !arguments.is_empty(), &[Module]),
        ("--dynamic-shared", *dynamic_shared != 0, &[Module]),
        ("--assert", !asserted.is_empty(), &[Module]),
        ("--volatile-is-plain", *volatile_is_plain, &[Module]),
    ];
    let given: Vec<Subject> = args.names.iter().map(|name| Subject::of(name)).collect();
    let nowhere = |subjects: &[Subject]| !given.iter().any(|subject| subjects.contains(subject));
    let &(option, _, subjects) = options.iter().find(|(_, is_given, subjects)| *is_given && nowhere(subjects))?;
    let subjects: Vec<&str> = subjects.iter().map(|subject| subject.text()).collect();
    let first = given.first().map_or("nothing", |subject| subject.text());
    Some(Input::new("option", format!("`{option}` applies to {}, not to {first}", subjects.join(" or "))))
}
