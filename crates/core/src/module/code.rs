//! The code of modules: text or words in the language of a driver.

use std::fmt;

/// A language of modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModuleLanguage {
    /// PTX, which CUDA's driver compiles.
    Ptx,
    /// SPIR-V, as text or as words.
    Spirv,
}

impl fmt::Display for ModuleLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ModuleLanguage::Ptx => "PTX",
            ModuleLanguage::Spirv => "SPIR-V",
        })
    }
}

/// What a module's kernels see of how many lanes a warp has, where that is left to devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SeenOfWarps {
    /// Kernels see nothing of it: the language fixes the number of lanes, or no kernel uses its warp.
    Nothing,
    /// Kernels see which threads are in a warp together.
    Lanes,
    /// Kernels see which threads are in a warp together, and the number of lanes.
    Size,
}

/// The code of a module.
#[derive(Debug)]
pub struct ModuleCode {
    /// The language of the code.
    pub language: ModuleLanguage,
    /// The name of the file, for errors and reports.
    pub file: String,
    /// The code: text, or the bytes of its words.
    pub bytes: Vec<u8>,
    /// The variables in global memory, which keep their values from launch to launch.
    pub variables: Vec<ModuleVariable>,
    /// What the kernels see of how many lanes a warp has.
    pub warps: SeenOfWarps,
    is_vouched: bool,
}

impl ModuleCode {
    /// A module for the checker and for simulated devices.
    pub fn new(
        language: ModuleLanguage,
        file: String,
        bytes: Vec<u8>,
        variables: Vec<ModuleVariable>,
        warps: SeenOfWarps,
    ) -> ModuleCode {
        ModuleCode { language, file, bytes, variables, warps, is_vouched: false }
    }

    /// Marks the module as one that may run on devices where a wrong address reaches foreign memory.
    ///
    /// # Safety
    /// In each launch its kernels touch no memory but the parts of buffers that they are given, and the module's own;
    /// the kernels that are made of it have the parameters that the text declares.
    pub unsafe fn vouched(self) -> ModuleCode {
        ModuleCode { is_vouched: true, ..self }
    }

    /// Whether devices may run it.
    pub(crate) fn is_vouched(&self) -> bool {
        self.is_vouched
    }
}

/// A variable of a module in global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    /// The name of the variable.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The initial bytes; the rest is zero.
    pub initial: Vec<u8>,
}
