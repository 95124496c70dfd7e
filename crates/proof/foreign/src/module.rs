//! Modules whose kernels are launched like Wattle's own.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use wattle_core::{
    Error, ModuleArguments, ModuleCode, ModuleEntry, ModuleKernel, ModuleLanguage, ModuleNumber, ModuleParam,
    ModuleVariable, Result, SeenOfWarps, lasting, system,
};
use wattle_modules::code::{self, Kernel};
use wattle_modules::{ptx, types};

use crate::spirv::{self, Parameters};

/// A module that was not written with Wattle: what `nvcc -ptx` makes of CUDA C++, or any other compiler.
///
/// Its kernels are launched with the usual buffers in a scenario: the checker takes it through every execution under
/// PTX's memory model, a simulated device through one interleaving for each seed, and a CUDA device runs the very same
/// text.
///
/// ```
/// use wattle_check::Simulated as _;
/// use wattle_check::checker::Checker;
/// use wattle_core::{Device, Result, ThreadSpec};
/// use wattle_foreign::Module;
/// use wattle_memory::Model;
///
/// const TEXT: &str = ".version 8.6\n.target sm_90\n.entry count(.param .u64 counter)\n\
///     { .reg .u64 %a; .reg .u32 %x;\n ld.param.u64 %a, [counter];\n atom.relaxed.gpu.global.add.u32 %x, [%a], 1;\n ret; }";
///
/// fn scenario(device: &Device) -> Result<()> {
///     let count = Module::ptx(TEXT)?.kernel("count")?;
///     let (queue, counter) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
///     queue.launch(ThreadSpec::new(2, 2), count.args((&counter,)))?;
///     assert_eq!(counter.read(&queue)?, [4]);
///     Ok(())
/// }
///
/// Checker::new(Model::Ptx).assert_holds(scenario);
/// scenario(&Device::simulated(7))?;
/// # Ok::<(), wattle_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Module {
    code: Arc<ModuleCode>,
    kernels: Vec<(Declared, OnceLock<Arc<ModuleEntry>>)>,
    /// The other kernels, with the reason why each is refused.
    refused: Vec<(String, String)>,
}

/// A kernel as the module declares it: its name, the line at which it begins, its parameters, and its signature.
#[derive(Clone, Debug)]
struct Declared {
    name: String,
    line: u32,
    params: Vec<ModuleParam>,
    signature: String,
}

/// A kernel of a [`Module`].
#[derive(Clone, Debug)]
pub struct LoadedKernel(Arc<ModuleEntry>);

impl Module {
    /// Reads a PTX module.
    ///
    /// # Errors
    /// The text is refused, or all of its kernels are; the error names the line, and the reason. Where only some are
    /// refused, [`kernel`](Module::kernel) says why.
    pub fn ptx(text: impl Into<String>) -> Result<Module> {
        Module::ptx_file("module.ptx", text)
    }

    /// Reads a PTX module, which errors and reports call by the name of its file.
    ///
    /// # Errors
    /// It fails where [`Module::ptx`] does.
    pub fn ptx_file(file: impl Into<String>, text: impl Into<String>) -> Result<Module> {
        let (file, text) = (file.into(), text.into());
        let read = ptx::read_each(&file, &text, ptx::Limits::NONE, &HashMap::new());
        let (code::Module { globals, kernels, .. }, refused) =
            read.map_err(|refused| system(format!("reading a module, {file}"), refused))?;
        if let Some(global) = globals.iter().find(|global| global.has_addresses) {
            let what = format!("take `{}` of {file}, which begins with addresses of variables", global.name);
            let why = "judge it with `wattle check`, or set it with a kernel";
            return Err(Error::capability("module", what, why));
        }
        let variable = |global: code::Global| {
            let code::Global { name, bytes, initial, .. } = global;
            ModuleVariable { name, bytes, initial }
        };
        let variables = globals.into_iter().map(variable).collect();
        let kernels = kernels.iter().map(of_ptx).collect();
        let refused = refused.into_iter().map(|(name, why)| (name, why.to_string())).collect();
        // PTX's warps have 32 lanes (PTX ISA 8.8, 2.2.1).
        let code = ModuleCode::new(ModuleLanguage::Ptx, file, text.into_bytes(), variables, SeenOfWarps::Nothing);
        Module::of(code, kernels, refused)
    }

    /// Reads a SPIR-V module, as text or as the bytes of its words. Its kernels are its entry points for compute, and
    /// their parameters the buffers, in the order of their descriptor sets and bindings, and then each member of the
    /// push constants; a kernel of the OpenCL environment has its own parameters, without one in local memory, whose
    /// size is that of the launch's shared memory. The checker takes it through every execution under Vulkan's memory
    /// model, and a simulated device through one interleaving for each seed.
    ///
    /// # Errors
    /// It is refused; the error names the line of the text, or the number of the instruction, and the reason.
    pub fn spirv(code: impl Into<Vec<u8>>) -> Result<Module> {
        Module::spirv_file("module.spv", code)
    }

    /// Reads a SPIR-V module, which errors and reports call by the name of its file.
    ///
    /// # Errors
    /// It fails where [`Module::spirv`] does.
    pub fn spirv_file(file: impl Into<String>, code: impl Into<Vec<u8>>) -> Result<Module> {
        let (file, bytes) = (file.into(), code.into());
        let wrong = |refused| system(format!("reading a module, {file}"), refused);
        let module = spirv::read(&file, &bytes).map_err(wrong)?;
        let (mut kernels, mut refused) = (Vec::new(), Vec::new());
        for name in module.entries() {
            match Parameters::of(&file, &module, name) {
                Ok(parameters) => {
                    let (params, signature) = (parameters.params(), parameters.signature(name));
                    kernels.push(Declared { name: name.to_owned(), line: 1, params, signature });
                }
                Err(why) => refused.push((name.to_owned(), why.to_string())),
            }
        }
        let warps = match (module.asks_size_of_subgroups(), module.uses_subgroups()) {
            (true, _) => SeenOfWarps::Size,
            (false, true) => SeenOfWarps::Lanes,
            (false, false) => SeenOfWarps::Nothing,
        };
        let code = ModuleCode::new(ModuleLanguage::Spirv, file, bytes, Vec::new(), warps);
        Module::of(code, kernels, refused)
    }

    /// A module of which some kernel can be launched, or that has none.
    fn of(code: ModuleCode, kernels: Vec<Declared>, refused: Vec<(String, String)>) -> Result<Module> {
        if let (true, Some((_, why))) = (kernels.is_empty(), refused.first()) {
            return Err(system(format!("reading a module, {}", code.file), why.clone()));
        }
        let kernels = kernels.into_iter().map(|kernel| (kernel, OnceLock::new())).collect();
        Ok(Module { code: Arc::new(code), kernels, refused })
    }

    /// Permits real devices to run the module; without it the checker and simulated devices alone do. Check the
    /// scenarios that launch it first.
    ///
    /// # Safety
    /// In each launch its kernels touch no memory but the parts of buffers that they are given, and the module's own.
    #[must_use]
    pub unsafe fn vouched(self) -> Module {
        let ModuleCode { language, file, bytes, variables, warps, .. } = &*self.code;
        let code = ModuleCode::new(*language, file.clone(), bytes.clone(), variables.clone(), *warps);
        let kernels = self.kernels.into_iter().map(|(kernel, _)| (kernel, OnceLock::new())).collect();
        // SAFETY: the caller's promise; the parameters of kernels are those that were read.
        Module { code: Arc::new(unsafe { code.vouched() }), kernels, refused: self.refused }
    }

    /// The names of its kernels, without those that are refused.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|(kernel, _)| kernel.name.as_str())
    }

    /// The kernel of that name.
    ///
    /// # Errors
    /// There is none, and the error names those that there are; or it is refused, and the error says why.
    pub fn kernel(&self, name: &str) -> Result<LoadedKernel> {
        let (kernel, entry) =
            self.kernels.iter().find(|(kernel, _)| kernel.name == name).ok_or_else(|| self.has_no(name))?;
        let Declared { line, params, signature, .. } = kernel;
        let entry = entry.get_or_init(|| {
            Arc::new(ModuleEntry::new(self.code.clone(), name, *line, params.clone(), signature.clone()))
        });
        Ok(LoadedKernel(entry.clone()))
    }

    fn has_no(&self, name: &str) -> Error {
        if let Some((_, why)) = self.refused.iter().find(|(refused, _)| refused == name) {
            return system(format!("reading kernel `{name}` of {}", self.code.file), why.clone());
        }
        let known: Vec<_> = self.kernels().map(|name| format!("`{name}`")).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        system(format!("looking for kernel `{name}` in {}", self.code.file), format!("it has {known}"))
    }
}

impl LoadedKernel {
    /// The kernel with its arguments, for a launch in as many dimensions as the launch has: x is the last one. A buffer
    /// is given as `&buffer` where other launches may use it at the same time, and as `&mut buffer` where none may;
    /// numbers and structs by value. Whether they fit the parameters, the launch says. Shared memory that is sized at
    /// launch is given by [`shared_len`](wattle_core::LaunchOptions::shared_len), in bytes.
    pub fn args<const D: usize>(&self, arguments: impl ModuleArguments) -> ModuleKernel<D> {
        self.0.call(arguments)
    }

    /// The kernel with its parameters, as the module declares them.
    pub fn signature(&self) -> &str {
        &self.0.signature
    }
}

/// A kernel of a PTX module.
fn of_ptx(kernel: &Kernel) -> Declared {
    let takes = |ty: types::Type, is_array: bool| match ty.sort {
        _ if is_array => ModuleNumber::Any,
        types::Sort::Float | types::Sort::Brain => ModuleNumber::Float,
        types::Sort::Unsigned | types::Sort::Signed => ModuleNumber::Integer,
        types::Sort::Bits | types::Sort::Pred => ModuleNumber::Any,
    };
    let param = |param: &code::Parameter| ModuleParam {
        name: lasting(&param.name),
        offset: param.offset as u32,
        bytes: param.bytes as u32,
        takes: takes(param.ty, param.is_array()),
    };
    Declared {
        name: kernel.name.clone(),
        line: kernel.lines.first().copied().unwrap_or(1),
        params: kernel.params.iter().map(param).collect(),
        signature: kernel.signature(),
    }
}
