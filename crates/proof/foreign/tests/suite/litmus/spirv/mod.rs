//! Litmus programs as SPIR-V modules: an entry point whose threads each do one column, under the Vulkan memory model, and
//! store what is observed at their ends. Nothing here knows what Wattle's own generator writes.

mod column;
mod filter;
mod flow;
mod groups;
mod words;

use std::fmt::Write;

use wattle_litmus::{Claim, Condition, Instruction, Observed, Program, Quantifier, Term};
use wattle_memory::Classes;

use column::Column;
pub use filter::guarded;
use groups::Groups;
use words::Words;

/// Why a program is no launch of one entry point.
pub type Beyond = &'static str;

/// A storage class of SPIR-V that stands for one of the model's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    Buffer,
    Workgroup,
    /// A third class, which SPIR-V has in compute kernels and Vulkan has not.
    Output,
}

impl Storage {
    fn name(self) -> &'static str {
        match self {
            Storage::Buffer => "StorageBuffer",
            Storage::Workgroup => "Workgroup",
            Storage::Output => "Output",
        }
    }

    /// Its bit in memory semantics.
    fn semantics(self) -> u32 {
        match self {
            Storage::Buffer => 0x40,
            Storage::Workgroup => 0x100,
            Storage::Output => 0x1000,
        }
    }
}

/// What the classes of a program are in the module.
pub struct Layout {
    /// For each class of the model, by its bit.
    classes: Vec<(Classes, Storage)>,
    /// For each location its class.
    locations: Vec<Storage>,
}

impl Layout {
    fn of(program: &Program) -> Result<Layout, Beyond> {
        let mut touched: Vec<Option<Classes>> = vec![None; program.locations.len()];
        let (mut all, mut named) = (Classes::NONE, Classes::NONE);
        let mut blocks: Vec<(u8, (u32, u32))> = Vec::new();
        for thread in &program.threads {
            for instruction in &thread.code {
                let (reference, labels) = match instruction {
                    Instruction::Load { from, label, .. } => (Some(*from), vec![label]),
                    Instruction::Store { to, label, .. } => (Some(*to), vec![label]),
                    Instruction::Update { at, read, write, .. } => (Some(*at), vec![read, write]),
                    Instruction::Fence(label) | Instruction::Barrier { label, .. } => (None, vec![label]),
                    Instruction::Move { .. }
                    | Instruction::Compute { .. }
                    | Instruction::Branch { .. }
                    | Instruction::Goto(_) => continue,
                };
                labels.iter().for_each(|label| named.0 |= label.semantics.0);
                let Some(reference) = reference else { continue };
                let class = labels[0].storage;
                let location = program.references[reference].location;
                if touched[location].replace(class).is_some_and(|other| other != class) {
                    return Err("a location in two storage classes");
                }
                all.0 |= class.0;
                blocks.push((class.0, (thread.placement.queue_family, thread.placement.block)));
            }
        }
        let mut classes = vec![(Classes::BUFFER, Storage::Buffer)];
        for bit in [2u8, 4, 8] {
            if (all.0 | named.0) & bit == 0 {
                continue;
            }
            let mut of = blocks.iter().filter(|(class, _)| *class == bit).map(|(_, block)| block);
            let first = of.next();
            let one_block = of.all(|block| Some(block) == first);
            let is_free = |storage| classes.iter().all(|&(_, used)| used != storage);
            let storage = [Storage::Workgroup, Storage::Output]
                .into_iter()
                .find(|&storage| is_free(storage) && (storage == Storage::Output || one_block));
            classes.push((Classes(bit), storage.ok_or("more storage classes than SPIR-V's kernels share")?));
        }
        let of = |class: Option<Classes>| {
            let class = class.unwrap_or(Classes::BUFFER);
            classes.iter().find(|(known, _)| *known == class).map_or(Storage::Buffer, |&(_, storage)| storage)
        };
        let locations = touched.into_iter().map(of).collect();
        Ok(Layout { classes, locations })
    }

    /// The bits of storage classes in memory semantics.
    fn semantics(&self, of: Classes) -> u32 {
        let named = self.classes.iter().filter(|(class, _)| of.includes(*class));
        named.fold(0, |bits, (_, storage)| bits | storage.semantics())
    }
}

/// The text of a program, with comments that say how to run it and what is claimed.
pub fn emit(program: &Program) -> Result<String, Beyond> {
    let family = |thread: &wattle_litmus::Thread| (thread.placement.device, thread.placement.queue_family);
    if program.threads.iter().any(|thread| family(thread) != family(&program.threads[0])) {
        return Err("threads of several queue families");
    }
    if !program.system.is_empty() {
        return Err("threads that the system orders");
    }
    let layout = Layout::of(program)?;
    let groups = Groups::of(program)?;
    let mut observed = Vec::new();
    let mut note = |seen: Observed| {
        if let Observed::Register { .. } = seen
            && !observed.contains(&seen)
        {
            observed.push(seen);
        }
    };
    program.filter.iter().for_each(|filter| filter.visit(&mut note));
    program.claim.iter().for_each(|claim| claim.condition.visit(&mut note));

    let mut words = Words::default();
    let columns: Vec<Column> =
        (0..program.threads.len()).map(|thread| Column { program, layout: &layout, thread }).collect();
    groups.write(&mut words, &columns, &observed)?;
    // Every register is a variable of its own.
    let mut registers = words.variables();
    for column in &columns {
        for (number, register) in column.thread().registers.iter().enumerate() {
            let initial = words.int(word(register.initial)?);
            let _ = writeln!(registers, "{} = OpVariable %local Function {initial}", column.register(number));
        }
    }
    let [threads, subgroups, workgroups] = groups.config();
    let items = observed.len().max(1);
    let zeros = vec!["0"; items].join(", ");
    let mut text = format!("; @Config: {threads}, {subgroups}, {workgroups}\n; @Input: %results = {{{{{zeros}}}}}\n");
    let mut declared = String::new();
    let mut interface = String::from("%group %subgroup %lane %results");
    for (number, (&value, storage)) in program.locations.iter().zip(&layout.locations).enumerate() {
        let value = word(value)?;
        let (ty, contents) = match storage {
            Storage::Buffer => ("block", format!("{{{value}}}")),
            Storage::Workgroup | Storage::Output => ("int", value.to_string()),
        };
        let _ = writeln!(text, "; @Input: %m{number} = {contents}");
        let _ = writeln!(declared, "%m{number} = OpVariable %{}{ty} {}", storage.name(), storage.name());
        let _ = write!(interface, " %m{number}");
        if *storage == Storage::Buffer {
            let binding = number + 1;
            let _ = writeln!(registers, "%p{number} = OpAccessChain %StorageBufferint %m{number} {}\n", words.int(0));
            let _ = writeln!(text, "; binding {binding}: {}", program.location_name(number));
        }
    }
    if let Some(claim) = &program.claim {
        let _ = writeln!(text, "; @Output: {}", claimed(claim, program.filter.as_ref(), &layout, &observed)?);
    }
    let len = words.uint(items as u32);
    text += "OpCapability Shader\nOpCapability VulkanMemoryModel\nOpCapability VulkanMemoryModelDeviceScope\n\
             OpCapability GroupNonUniform\nOpMemoryModel Logical Vulkan\n";
    let _ = write!(
        text,
        "OpEntryPoint GLCompute %main \"litmus\" {interface}\nOpExecutionMode %main LocalSize {} 1 1\n\
         OpDecorate %group BuiltIn WorkgroupId\nOpDecorate %subgroup BuiltIn SubgroupId\n\
         OpDecorate %lane BuiltIn SubgroupLocalInvocationId\n\
         OpDecorate %array ArrayStride 4\nOpMemberDecorate %answers 0 Offset 0\nOpDecorate %answers Block\n\
         OpMemberDecorate %block 0 Offset 0\nOpDecorate %block Block\n\
         OpDecorate %results DescriptorSet 0\nOpDecorate %results Binding 0\n",
        threads * subgroups
    );
    for (number, storage) in layout.locations.iter().enumerate() {
        if *storage == Storage::Buffer {
            let binding = number + 1;
            let _ = writeln!(text, "OpDecorate %m{number} DescriptorSet 0\nOpDecorate %m{number} Binding {binding}");
        }
    }
    text += "%void = OpTypeVoid\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n%int = OpTypeInt 32 1\n\
             %v3uint = OpTypeVector %uint 3\n%function = OpTypeFunction %void\n%block = OpTypeStruct %int\n";
    text += &words.constants();
    let _ = write!(
        text,
        "%array = OpTypeArray %int {len}\n%answers = OpTypeStruct %array\n\
         %local = OpTypePointer Function %int\n%inputs = OpTypePointer Input %v3uint\n%input = OpTypePointer Input %uint\n\
         %StorageBufferanswers = OpTypePointer StorageBuffer %answers\n\
         %StorageBufferblock = OpTypePointer StorageBuffer %block\n%StorageBufferint = OpTypePointer StorageBuffer %int\n\
         %Workgroupint = OpTypePointer Workgroup %int\n%Outputint = OpTypePointer Output %int\n\
         %group = OpVariable %inputs Input\n%subgroup = OpVariable %input Input\n%lane = OpVariable %input Input\n\
         %results = OpVariable %StorageBufferanswers StorageBuffer\n{declared}\
         %main = OpFunction %void None %function\n%entry = OpLabel\n{registers}{}OpFunctionEnd\n",
        words.body
    );
    Ok(text)
}

/// A number as a signed word.
pub fn word(bits: u64) -> Result<i32, Beyond> {
    i32::try_from(bits as i64).map_err(|_| "numbers of more than 32 bits")
}

/// The claim about the module's memory at its end. An end that the filter leaves out does not count.
fn claimed(
    claim: &Claim,
    filter: Option<&Condition>,
    layout: &Layout,
    observed: &[Observed],
) -> Result<String, Beyond> {
    let condition = condition(&claim.condition, layout, observed)?;
    let filter = filter.map(|filter| self::condition(filter, layout, observed)).transpose()?;
    Ok(match (claim.quantifier, filter) {
        (Quantifier::Forall, None) => format!("forall {condition}"),
        (Quantifier::Forall, Some(filter)) => format!("forall (not {filter} or {condition})"),
        (Quantifier::Exists, None) => format!("exists {condition}"),
        (Quantifier::Exists, Some(filter)) => format!("exists ({filter} and {condition})"),
        (Quantifier::NotExists, None) => format!("not exists {condition}"),
        (Quantifier::NotExists, Some(filter)) => format!("not exists ({filter} and {condition})"),
    })
}

fn condition(of: &Condition, layout: &Layout, observed: &[Observed]) -> Result<String, Beyond> {
    let many = |parts: &[Condition], between: &str| -> Result<String, Beyond> {
        let parts: Vec<String> =
            parts.iter().map(|part| condition(part, layout, observed)).collect::<Result<_, _>>()?;
        Ok(format!("({})", parts.join(between)))
    };
    match of {
        Condition::All(parts) => many(parts, " and "),
        Condition::Any(parts) => many(parts, " or "),
        Condition::Not(inner) => Ok(format!("(not {})", condition(inner, layout, observed)?)),
        Condition::Compare(left, comparison, right) => {
            let term = |term: &Term| match term {
                Term::Constant(value) => word(*value).map(|word| word.to_string()),
                Term::Final(Observed::Memory(location)) => Ok(match layout.locations[*location] {
                    Storage::Buffer => format!("%m{location}[0]"),
                    Storage::Workgroup | Storage::Output => format!("%m{location}"),
                }),
                Term::Final(register) => {
                    let place = observed.iter().position(|known| known == register).unwrap_or(0);
                    Ok(format!("%results[0][{place}]"))
                }
            };
            let sign = super::comparison_sign(*comparison);
            Ok(format!("({} {sign} {})", term(left)?, term(right)?))
        }
    }
}
