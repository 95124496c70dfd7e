//! The launches of a module's kernel that `wattle check` judges: as the options and the module's comments describe
//! them.

use std::collections::HashSet;
use std::str::FromStr;

use clap::Args;
use wattle::memory::Target;
use wattle_foreign::spirv::{self, Claim, Header};
use wattle_foreign::{Argument, Described, Launch, Source, World};

use crate::exit::{Input, Stop};

/// A launch, in each way that is left to devices.
pub struct Launches {
    /// The launch, with the threads of a subgroup where several are tried.
    pub worlds: Vec<(Option<u32>, World)>,
    /// What the module's comments claim of it.
    pub claim: Option<Claim>,
}

/// The launch of a module's kernel.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options for a PTX or SPIR-V module")]
pub struct ModuleArgs {
    /// The kernel, by its name in the module [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// The blocks of the launch: 2 or 2,2,1 [default: 1, or what the module's comments say]
    #[arg(long, value_name = "BLOCKS")]
    pub grid: Option<Shape>,
    /// The threads of a block: 64 or 8,8,1 [default: 1, or what the module says]
    #[arg(long, value_name = "THREADS")]
    pub block: Option<Shape>,
    /// An argument, in the order of the parameters: out=f32[8]:0.0 is a buffer, n=8 a number, s={x=f32[8]:1.0; n=i32:8}
    /// a struct; of SPIR-V the first contents of the variable of that name
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<Argument>,
    /// The size in bytes of the shared memory that is sized at launch
    #[arg(long, value_name = "BYTES", default_value = "0")]
    pub dynamic_shared: u64,
    /// What holds at the end of each execution: 'out[0] == 8.0 && count == 2'
    #[arg(long = "assert", value_name = "CONDITION")]
    pub asserted: Vec<String>,
    /// Takes volatile accesses for plain ones, as CUDA C++ does; for PTX they are relaxed, at system scope
    #[arg(long)]
    pub volatile_is_plain: bool,
}

/// The extents of a grid or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape([u32; 3]);

impl Default for Shape {
    fn default() -> Shape {
        Shape([1; 3])
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let mut shape = [1; 3];
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 3 {
            return Err("there are at most three dimensions".into());
        }
        for (extent, part) in shape.iter_mut().zip(parts) {
            let number = part.trim().parse().ok().filter(|&number| number > 0);
            *extent = number.ok_or("write a number from 1, or several with commas between them: 8 or 8,4")?;
        }
        Ok(Shape(shape))
    }
}

pub fn ptx(name: &str, bytes: Vec<u8>, asked: &ModuleArgs) -> Result<Launches, Stop> {
    let text = String::from_utf8(bytes).map_err(|_| wrong(format!("{name} is no text")))?;
    let source = Source { file: name.to_owned(), text };
    let Described { grid, block, arguments, claim } = Described::of(&source, asked.entry.as_deref()).map_err(wrong)?;
    let [grid, block] = [(asked.grid, grid), (asked.block, block)]
        .map(|(asked, own)| asked.map(|Shape(asked)| asked).or(own).unwrap_or(Shape::default().0));
    let launch =
        Launch { grid, block, arguments: instead(arguments, &asked.arguments), dynamic_shared: asked.dynamic_shared };
    let mut world = World::new(source, asked.entry.as_deref(), launch).map_err(wrong)?;
    world.volatile_is_plain = asked.volatile_is_plain;
    Ok(Launches { worlds: vec![(None, world)], claim })
}

/// Arguments with others of their names in their places, and with the remaining ones behind them.
fn instead(mut arguments: Vec<Argument>, others: &[Argument]) -> Vec<Argument> {
    for (number, other) in others.iter().enumerate() {
        let is_twice = others[..number].iter().any(|before| before.name == other.name);
        match arguments.iter_mut().find(|argument| argument.name == other.name && !is_twice) {
            Some(argument) => argument.clone_from(other),
            None => arguments.push(other.clone()),
        }
    }
    arguments
}

/// A launch as the module's comments describe it, where the options do not. Where they do not say how many threads a
/// subgroup has, and the module has something of subgroups, it is tried with each size that makes a difference.
pub fn spirv(name: &str, bytes: &[u8], asked: &ModuleArgs) -> Result<Launches, Stop> {
    if asked.volatile_is_plain {
        return Err(wrong(format!(
            "{name} is SPIR-V, whose volatile accesses order nothing: leave --volatile-is-plain out"
        )));
    }
    if asked.dynamic_shared > 0 {
        return Err(wrong(format!(
            "{name} is SPIR-V, which has no shared memory that is sized at launch: leave --dynamic-shared out; a kernel's \
             parameter in local memory is given as --arg part=f32[64]"
        )));
    }
    let module = spirv::read(name, bytes).map_err(wrong)?;
    let header = Header::read(&module.text).map_err(|error| wrong(format!("{name}: {error}")))?;
    let mut setting = header.setting();
    setting.checks_indices = true;
    if let Some(Shape(grid)) = asked.grid {
        setting.workgroups = grid;
    }
    if let Some(Shape(block)) = asked.block {
        let own = module.interface(asked.entry.as_deref());
        let own = own.map_err(|refused| wrong(refused.with_text(name, &module.text)))?.local_size;
        if let Some(own) = own.filter(|own| *own != block && header.config.is_none()) {
            return Err(wrong(format!(
                "{name} fixes the threads of a workgroup, {own:?}, and --block says {block:?}: leave the option out"
            )));
        }
        (setting.local_size, setting.subgroup) = (Some(block), None);
    }
    let mut names = HashSet::new();
    if let Some(twice) = asked.arguments.iter().find(|argument| !names.insert(&argument.name)) {
        return Err(wrong(format!("`{}` is given contents twice", twice.name)));
    }
    setting.inputs.extend(spirv::contents(&asked.arguments));
    let given = setting.subgroup;
    let names_all = !header.describes();
    let mut world = |subgroup| {
        setting.subgroup = subgroup;
        let world = spirv::launch(name, &module, asked.entry.as_deref(), &setting).map_err(wrong)?;
        if names_all {
            spirv::all_given(&world).map_err(wrong)?;
        }
        Ok::<World, Stop>(world)
    };
    if given.is_some() || !module.uses_subgroups() {
        return Ok(Launches { worlds: vec![(None, world(given)?)], claim: header.claim });
    }
    let (mut worlds, mut whole) = (Vec::new(), false);
    // Subgroups of one have the most executions, and GPUs have larger ones.
    let mut possible = Target::Vulkan.warp_sizes().to_vec();
    possible.sort_by_key(|size| *size == 1);
    let mut refused = None;
    for size in possible {
        // A module with quads or clusters is for subgroups that have them.
        let next = match world(Some(size)) {
            Ok(next) => next,
            Err(why) => {
                refused.get_or_insert(why);
                continue;
            }
        };
        // A workgroup that is one subgroup is one of any larger size, unless the size is asked for.
        let is_whole = u64::from(size) >= next.launch().block_len() && !module.asks_size_of_subgroups();
        if !is_whole || !std::mem::replace(&mut whole, true) {
            worlds.push((Some(size), next));
        }
    }
    if let (true, Some(why)) = (worlds.is_empty(), refused) {
        return Err(why);
    }
    let sizes: Vec<u32> = worlds.iter().filter_map(|(size, _)| *size).collect();
    worlds.iter_mut().for_each(|(_, world)| world.also_with_subgroups_of(&sizes));
    Ok(Launches { worlds, claim: header.claim })
}

/// The error of a launch of a module that is described wrongly.
pub fn wrong(message: impl ToString) -> Stop {
    Stop::from(Input::new("module", message.to_string()))
}
