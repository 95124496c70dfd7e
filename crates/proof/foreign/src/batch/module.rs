//! Launches of modules that were not written with Wattle.

use std::collections::HashMap;

use wattle_check::checker::{Batch, BatchArgument, BatchBuffer, BatchKernel};
use wattle_core::{Error, ModuleEntry, ModuleLanguage, Result};
use wattle_modules::spirv::{Bound, BoundMemory, Setting};

use super::images::Images;
use super::refused;
use crate::advice::scenario::{Changed, Variant};
use crate::launch::Launch;
use crate::prepare::chosen;
use crate::range::address_of;
use crate::shape::is_given;
use crate::spirv::{self, Parameters};
use crate::world::{Origin, Part, Source, World, read};

/// Records the launches of a batch for the advice on their modules, each by itself.
pub(super) fn note_launches(variant: &Variant, batch: &Batch) {
    for launch in &batch.launches {
        if let BatchKernel::Module { entry, .. } = &launch.kernel {
            variant.note_launch(entry, || alone(&launch.kernel, batch, variant).ok());
        }
    }
}

/// A launch of a module's kernel by itself, as advice looks at it.
fn alone(kernel: &BatchKernel, batch: &Batch, variant: &Variant) -> Result<World> {
    World::of(vec![part(kernel, &batch.buffers, Some(variant))?], Images::of(batch).ranges(batch)).map_err(refused)
}

/// A launch of a module's kernel on arguments in these buffers, with what advice tries.
pub(crate) fn part(kernel: &BatchKernel, buffers: &[BatchBuffer], variant: Option<&Variant>) -> Result<Part> {
    let BatchKernel::Module { entry, .. } = kernel else { unreachable!("the caller has looked") };
    match entry.code.language {
        ModuleLanguage::Ptx => of_ptx(kernel, variant),
        ModuleLanguage::Spirv => of_spirv(kernel, buffers, variant),
        // A language that the scenario's device does not take is refused when the launch is made.
        other => Err(Error::capability("checker", format!("judge a module in {other}"), "write it as PTX or SPIR-V")),
    }
}

/// The code of a module as text, with what advice tries.
fn text(entry: &ModuleEntry, variant: Option<&Variant>) -> String {
    match variant.and_then(|variant| variant.changed(&entry.code)) {
        Some(Changed::Ptx(text)) => text.clone(),
        Some(Changed::Spirv(_)) | None => String::from_utf8_lossy(&entry.code.bytes).into_owned(),
    }
}

fn of_ptx(kernel: &BatchKernel, variant: Option<&Variant>) -> Result<Part> {
    let BatchKernel::Module { entry, grid, block, shared_bytes, arguments, variables, .. } = kernel else {
        unreachable!("the caller has looked")
    };
    let source = Source { file: entry.code.file.clone(), text: text(entry, variant) };
    let names = entry.code.variables.iter().map(|variable| variable.name.clone());
    let addresses: HashMap<_, _> = names.zip(variables.iter().map(|&number| address_of(number))).collect();
    let module = read(&source, &addresses, Some(entry.name())).map_err(refused)?;
    let kernel = chosen(&source, &module, Some(entry.name())).map_err(refused)?;
    let mut params = vec![0; module.kernels[kernel].packed_bytes()];
    for (place, argument) in arguments {
        match argument {
            BatchArgument::Bytes(bytes) => params[place.clone()].copy_from_slice(bytes),
            BatchArgument::Address(buffer, offset) => {
                params[place.clone()].copy_from_slice(&(address_of(*buffer) + offset).to_le_bytes());
            }
        }
    }
    let dynamic_shared = u64::from(*shared_bytes);
    let launch = Launch { grid: *grid, block: *block, arguments: Vec::new(), dynamic_shared };
    is_given(&module.kernels[kernel], &launch).map_err(refused)?;
    let params = module.kernels[kernel].parameter_space(&params);
    Ok(Part::new(source, (module, kernel), launch, params))
}

fn of_spirv(kernel: &BatchKernel, buffers: &[BatchBuffer], variant: Option<&Variant>) -> Result<Part> {
    let BatchKernel::Module { entry, grid, block, warp_size, shared_bytes, arguments, .. } = kernel else {
        unreachable!("the caller has looked")
    };
    let file = &entry.code.file;
    let module = match variant.and_then(|variant| variant.changed(&entry.code)) {
        Some(Changed::Spirv(module)) => (**module).clone(),
        Some(Changed::Ptx(_)) | None => spirv::read(file, &entry.code.bytes).map_err(refused)?,
    };
    let parameters = Parameters::of(file, &module, entry.name()).map_err(refused)?;
    if let Some(size) = parameters.local_size.filter(|size| size != block) {
        let what =
            format!("launch `{}` of {file} with blocks of {block:?} threads: its own have {size:?}", entry.name());
        return Err(Error::capability("checker", what, "launch it with as many threads per block as it declares"));
    }
    if parameters.workgroup() > 1 {
        let what = format!(
            "launch `{}` of {file}: {} of its parameters are memory of the workgroup, and a launch gives one size",
            entry.name(),
            parameters.workgroup()
        );
        return Err(Error::capability("checker", what, "give the kernel one of them, or declare the arrays in it"));
    }
    let workgroup_bytes = u64::from(*shared_bytes);
    let mut bound = Bound { push: vec![0; parameters.push_bytes()], workgroup_bytes, ..Bound::default() };
    for (place, argument) in arguments {
        match argument {
            BatchArgument::Bytes(bytes) => {
                let from = place.start - parameters.push_at();
                bound.push[from..from + bytes.len()].copy_from_slice(bytes);
            }
            BatchArgument::Address(buffer, offset) => {
                let of = &buffers[*buffer];
                let bytes = ((of.layout.size() * of.len) as u64).saturating_sub(*offset);
                let memory = BoundMemory { buffer: *buffer, address: address_of(*buffer) + offset, bytes };
                if let Some(binding) = parameters.binding_at(place.start) {
                    bound.memories.insert(binding, memory);
                }
            }
        }
    }
    let setting = Setting {
        local_size: Some(*block),
        workgroups: *grid,
        subgroup: Some(*warp_size),
        checks_indices: true,
        inputs: HashMap::new(),
        bound: Some(bound),
    };
    let lowered = module.lower(Some(entry.name()), &setting);
    let lowered = lowered.map_err(|why| refused(why.with_text(file, &module.text).into()))?;
    let mut part = spirv::part(lowered, Source { file: file.clone(), text: module.text.clone() }).map_err(refused)?;
    if let Some(spirv) = &mut part.spirv {
        let (file, entry) = (file.clone(), Some(entry.name().to_owned()));
        spirv.origin = Some(Box::new(Origin { module, file, entry, setting, sizes: Vec::new() }));
    }
    Ok(part)
}
