//! The words of GLSL (GL_KHR_memory_scope_semantics where the module has the Vulkan memory model), HLSL, OpenCL C, WGSL
//! and SPIR-V for fences, barriers, atomic accesses and what other threads see.

use wattle_modules::spirv::{Orders, SourceLanguage, Spirv};

/// The bits of memory semantics (SPIR-V specification, 3.26).
pub(super) const ACQUIRE: u32 = 0x2;
pub(super) const RELEASE: u32 = 0x4;
pub(super) const ACQUIRE_RELEASE: u32 = 0x8;
pub(super) const UNIFORM: u32 = 0x40;
pub(super) const WORKGROUP: u32 = 0x100;
pub(super) const MAKE_AVAILABLE: u32 = 0x2000;
pub(super) const MAKE_VISIBLE: u32 = 0x4000;

/// The numbers of scopes (3.28).
pub(super) const DEVICE: u32 = 1;
pub(super) const OF_WORKGROUP: u32 = 2;
pub(super) const OF_SUBGROUP: u32 = 3;

const BITS: [(u32, &str, &str); 7] = [
    (ACQUIRE, "Acquire", "gl_SemanticsAcquire"),
    (RELEASE, "Release", "gl_SemanticsRelease"),
    (ACQUIRE_RELEASE, "AcquireRelease", "gl_SemanticsAcquireRelease"),
    (UNIFORM, "UniformMemory", "gl_StorageSemanticsBuffer"),
    (WORKGROUP, "WorkgroupMemory", "gl_StorageSemanticsShared"),
    (MAKE_AVAILABLE, "MakeAvailable", "gl_SemanticsMakeAvailable"),
    (MAKE_VISIBLE, "MakeVisible", "gl_SemanticsMakeVisible"),
];

const SCOPES: [(u32, &str, &str, &str); 4] = [
    (DEVICE, "Device", "gl_ScopeDevice", "memory_scope_device"),
    (OF_WORKGROUP, "Workgroup", "gl_ScopeWorkgroup", "memory_scope_work_group"),
    (OF_SUBGROUP, "Subgroup", "gl_ScopeSubgroup", "memory_scope_sub_group"),
    (5, "QueueFamily", "gl_ScopeQueueFamily", "memory_scope_device"),
];

/// A vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// GLSL whose atomic operations are relaxed.
    Glsl,
    /// GLSL with scopes and semantics.
    GlslWithSemantics,
    /// HLSL, and Slang, which has its functions.
    Hlsl,
    OpenCl,
    Spirv,
    Wgsl,
}

fn joined<'s>(parts: impl Iterator<Item = &'s str>, between: &str, none: &str) -> String {
    let all: Vec<&str> = parts.collect();
    if all.is_empty() { none.to_owned() } else { all.join(between) }
}

/// Semantics in GLSL: of which memory, and which.
fn in_glsl(semantics: u32) -> String {
    let part = |of_memory: bool| {
        let is_meant = move |bit: u32| semantics & bit != 0 && (bit & (UNIFORM | WORKGROUP) != 0) == of_memory;
        BITS.iter().filter(move |(bit, ..)| is_meant(*bit)).map(|(.., glsl)| *glsl)
    };
    format!("{}, {}", joined(part(true), " | ", "0"), joined(part(false), " | ", "gl_SemanticsRelaxed"))
}

fn in_spirv(semantics: u32) -> String {
    joined(BITS.iter().filter(|(bit, ..)| semantics & bit != 0).map(|(_, spirv, _)| *spirv), "|", "None")
}

fn in_opencl(semantics: u32) -> &'static str {
    match semantics & (ACQUIRE | RELEASE | ACQUIRE_RELEASE) {
        0 => "memory_order_relaxed",
        ACQUIRE => "memory_order_acquire",
        RELEASE => "memory_order_release",
        _ => "memory_order_acq_rel",
    }
}

/// The flags of OpenCL C for the memory that semantics are of.
fn flags(semantics: u32) -> String {
    let of = [(WORKGROUP, "CLK_LOCAL_MEM_FENCE"), (UNIFORM, "CLK_GLOBAL_MEM_FENCE")];
    joined(of.into_iter().filter(|(bit, _)| semantics & bit != 0).map(|(_, flag)| flag), " | ", "0")
}

/// The memory of HLSL's barriers.
fn hlsl_memory(semantics: u32) -> &'static str {
    match semantics & (UNIFORM | WORKGROUP) {
        UNIFORM => "Device",
        WORKGROUP => "Group",
        _ => "All",
    }
}

/// WGSL's barriers, which are of one kind of memory each.
fn wgsl_barriers(semantics: u32) -> String {
    let of = [(WORKGROUP, "workgroupBarrier()"), (UNIFORM, "storageBarrier()")];
    joined(
        of.into_iter().filter(|(bit, _)| semantics & bit != 0).map(|(_, barrier)| barrier),
        "; ",
        "workgroupBarrier()",
    )
}

/// A text with other semantics in the place of these.
pub(super) fn with_semantics(text: &str, from: u32, to: u32) -> String {
    text.replace(&in_glsl(from), &in_glsl(to))
        .replace(&format!(" {}", in_spirv(from)), &format!(" {}", in_spirv(to)))
        .replace(in_opencl(from), in_opencl(to))
}

impl Words {
    pub fn of(module: &Spirv) -> Words {
        match (module.language(), module.has_vulkan_model()) {
            (SourceLanguage::Glsl, false) => Words::Glsl,
            (SourceLanguage::Glsl, true) => Words::GlslWithSemantics,
            (SourceLanguage::Hlsl, _) => Words::Hlsl,
            (SourceLanguage::OpenCl, _) => Words::OpenCl,
            (SourceLanguage::Wgsl, _) => Words::Wgsl,
            (SourceLanguage::Other, _) => Words::Spirv,
        }
    }

    /// Whether the source can give an atomic operation an order.
    pub fn has_orders(self) -> bool {
        match self {
            Words::GlslWithSemantics | Words::OpenCl | Words::Spirv => true,
            Words::Glsl | Words::Hlsl | Words::Wgsl => false,
        }
    }

    /// Whether the source has loads and stores that are atomic, whatever their order.
    pub fn has_atomic_accesses(self) -> bool {
        self.has_orders() || self == Words::Wgsl
    }

    /// Whether the source has atomic operations on integers alone.
    pub fn has_atomic_integers_alone(self) -> bool {
        match self {
            Words::Glsl | Words::GlslWithSemantics | Words::Hlsl | Words::Wgsl => true,
            Words::OpenCl | Words::Spirv => false,
        }
    }

    /// Whether the source names scopes.
    pub fn has_scopes(self) -> bool {
        match self {
            Words::Glsl | Words::GlslWithSemantics | Words::OpenCl | Words::Spirv => true,
            Words::Hlsl | Words::Wgsl => false,
        }
    }

    /// Whether the source has fences that are no barriers.
    pub fn has_fences(self) -> bool {
        self != Words::Wgsl
    }

    /// Whether the source has barriers of a subgroup.
    pub fn has_subgroup_barriers(self) -> bool {
        match self {
            Words::Glsl | Words::GlslWithSemantics | Words::OpenCl | Words::Spirv => true,
            Words::Hlsl | Words::Wgsl => false,
        }
    }

    /// Whether the source has the same words for two semantics of an atomic operation.
    pub fn are_alike(self, one: u32, other: u32) -> bool {
        self == Words::OpenCl && in_opencl(one) == in_opencl(other)
    }

    pub fn scope(self, scope: u32) -> &'static str {
        let Some((_, spirv, glsl, opencl)) = SCOPES.iter().find(|(known, ..)| *known == scope) else {
            return "CrossDevice";
        };
        match self {
            Words::Glsl | Words::GlslWithSemantics => glsl,
            Words::OpenCl => opencl,
            Words::Hlsl | Words::Spirv | Words::Wgsl => spirv,
        }
    }

    /// Semantics, or for OpenCL C an order.
    fn semantics(self, semantics: u32) -> String {
        match self {
            Words::Glsl | Words::GlslWithSemantics => in_glsl(semantics),
            Words::OpenCl => in_opencl(semantics).to_owned(),
            Words::Hlsl | Words::Spirv | Words::Wgsl => in_spirv(semantics),
        }
    }

    /// A fence with this scope and these semantics, as the language writes it.
    pub fn fence(self, scope: u32, semantics: u32) -> String {
        match self {
            Words::Glsl => match semantics & (UNIFORM | WORKGROUP) {
                UNIFORM => "memoryBarrierBuffer()".to_owned(),
                WORKGROUP => "memoryBarrierShared()".to_owned(),
                _ => "memoryBarrier()".to_owned(),
            },
            Words::GlslWithSemantics => format!("memoryBarrier({}, {})", self.scope(scope), in_glsl(semantics)),
            Words::OpenCl => {
                let (flags, order, scope) = (flags(semantics), in_opencl(semantics), self.scope(scope));
                format!("atomic_work_item_fence({flags}, {order}, {scope})")
            }
            Words::Hlsl => format!("{}MemoryBarrier()", hlsl_memory(semantics)),
            Words::Wgsl => wgsl_barriers(semantics),
            Words::Spirv => format!("`OpMemoryBarrier {} {}`", self.scope(scope), in_spirv(semantics)),
        }
    }

    /// A barrier among the threads of a workgroup or a subgroup; in GLSL without semantics it is of shared memory
    /// alone.
    pub fn barrier(self, among: u32, semantics: u32) -> String {
        let (is_subgroup, scope) = (among == OF_SUBGROUP, self.scope(among));
        match self {
            Words::Glsl if is_subgroup => "subgroupBarrier()".to_owned(),
            Words::Glsl if semantics & UNIFORM != 0 => {
                "memoryBarrierBuffer(); barrier(); memoryBarrierBuffer()".to_owned()
            }
            Words::Glsl => "barrier()".to_owned(),
            Words::GlslWithSemantics => format!("controlBarrier({scope}, {scope}, {})", in_glsl(semantics)),
            Words::OpenCl => format!("{}barrier({})", if is_subgroup { "sub_group_" } else { "" }, flags(semantics)),
            Words::Hlsl => format!("{}MemoryBarrierWithGroupSync()", hlsl_memory(semantics)),
            Words::Wgsl => wgsl_barriers(semantics),
            Words::Spirv => format!("`OpControlBarrier {scope} {scope} {}`", in_spirv(semantics)),
        }
    }

    /// A fence, a barrier or an atomic operation with another scope.
    pub fn wider(self, orders: Orders, scope: u32, semantics: u32) -> String {
        match (self, orders) {
            // `groupMemoryBarrier()` and `mem_fence(…)` take no scope.
            (Words::Glsl | Words::OpenCl, Orders::Fence) => format!("make it {}", self.fence(scope, semantics)),
            (Words::Glsl | Words::OpenCl, Orders::Barrier | Orders::Load | Orders::Store | Orders::Update)
            | (Words::GlslWithSemantics | Words::Hlsl | Words::Spirv | Words::Wgsl, _) => {
                format!("make its scope {}", self.scope(scope))
            }
        }
    }

    /// The advice to give an instruction of a kind other memory semantics.
    pub fn stronger(self, orders: Orders, scope: u32, semantics: u32) -> String {
        match (self, orders) {
            (Words::Glsl, _) | (Words::Hlsl, Orders::Fence) => format!("make it {}", self.fence(scope, semantics)),
            (Words::Hlsl | Words::Wgsl, _) => format!("make it {}", self.barrier(OF_WORKGROUP, semantics)),
            (Words::OpenCl, Orders::Fence) => format!("make it {}", self.fence(scope, semantics)),
            (Words::OpenCl, Orders::Barrier) => format!("make it {}", self.barrier(OF_WORKGROUP, semantics)),
            (Words::OpenCl, Orders::Load | Orders::Store | Orders::Update) => {
                format!("make its order {}", in_opencl(semantics))
            }
            // `barrier()` takes no semantics.
            (Words::GlslWithSemantics, Orders::Barrier) => {
                format!("make it controlBarrier(…, {}, {})", self.scope(scope), self.semantics(semantics))
            }
            (Words::GlslWithSemantics | Words::Spirv, _) => format!("make its semantics {}", self.semantics(semantics)),
        }
    }

    /// A plain access as an atomic one.
    pub fn atomic(self, is_load: bool, scope: u32, semantics: u32) -> String {
        let does = if is_load { "read" } else { "write" };
        let (scope, semantics) = (self.scope(scope), self.semantics(semantics));
        match (self, is_load) {
            (Words::Glsl, true) => "read it by atomicOr(…, 0)".to_owned(),
            (Words::Glsl, false) => "write it by atomicExchange(…, …)".to_owned(),
            (Words::GlslWithSemantics, true) => format!("read it by atomicLoad(…, {scope}, {semantics})"),
            (Words::GlslWithSemantics, false) => format!("write it by atomicStore(…, …, {scope}, {semantics})"),
            (Words::OpenCl, true) => format!("read it by atomic_load_explicit(…, {semantics}, {scope})"),
            (Words::OpenCl, false) => format!("write it by atomic_store_explicit(…, …, {semantics}, {scope})"),
            (Words::Hlsl, true) => "read it by InterlockedOr(…, 0, …)".to_owned(),
            (Words::Hlsl, false) => "write it by InterlockedExchange(…, …, …)".to_owned(),
            (Words::Wgsl, true) => "declare it atomic and read it by atomicLoad(&…)".to_owned(),
            (Words::Wgsl, false) => "declare it atomic and write it by atomicStore(&…, …)".to_owned(),
            (Words::Spirv, _) => {
                let op = if is_load { "OpAtomicLoad" } else { "OpAtomicStore" };
                format!("{does} it by `{op}` of scope {scope}, with the semantics {semantics}")
            }
        }
    }

    /// A sum as an atomic one.
    pub fn increment(self) -> &'static str {
        match self {
            Words::Glsl | Words::GlslWithSemantics => "do it by atomicAdd(…, …)",
            Words::Hlsl => "do it by InterlockedAdd(…, …)",
            Words::OpenCl => "do it by atomic_add(…, …)",
            Words::Wgsl => "declare it atomic and do it by atomicAdd(&…, …)",
            Words::Spirv => "do it by `OpAtomicIAdd`",
        }
    }

    /// A variable whose accesses other threads see; with a scope they are made available and visible there.
    pub fn visible(self, name: &str, scope: Option<u32>) -> String {
        match (self, scope) {
            (Words::Glsl, _) => format!("declare `{name}` coherent"),
            (Words::GlslWithSemantics, None) => format!("declare `{name}` nonprivate"),
            (Words::GlslWithSemantics, Some(OF_WORKGROUP)) => format!("declare `{name}` workgroupcoherent"),
            (Words::GlslWithSemantics, Some(DEVICE)) => format!("declare `{name}` devicecoherent"),
            (Words::GlslWithSemantics, Some(_)) => format!("declare `{name}` queuefamilycoherent"),
            (Words::Hlsl, _) => format!("declare `{name}` globallycoherent"),
            (Words::OpenCl | Words::Spirv | Words::Wgsl, None) => format!("access `{name}` with NonPrivatePointer"),
            (Words::OpenCl | Words::Spirv | Words::Wgsl, Some(scope)) => {
                let of = Words::Spirv.scope(scope);
                format!("access `{name}` with NonPrivatePointer, MakePointerAvailable and MakePointerVisible of {of}")
            }
        }
    }

    /// A variable of a module with an implied memory model that is decorated.
    pub fn coherent(self, name: &str) -> String {
        match self {
            Words::Glsl | Words::GlslWithSemantics | Words::Hlsl => self.visible(name, None),
            Words::OpenCl | Words::Spirv | Words::Wgsl => format!("decorate `{name}` Coherent"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `groupMemoryBarrier()` and `mem_fence(…)` take no scope; other fences and atomic operations do.
    #[test]
    fn a_wider_fence_is_another_function() {
        let semantics = ACQUIRE_RELEASE | UNIFORM;
        let of = |words: Words, orders| words.wider(orders, DEVICE, semantics);
        assert_eq!(of(Words::Glsl, Orders::Fence), "make it memoryBarrierBuffer()");
        assert_eq!(
            of(Words::OpenCl, Orders::Fence),
            "make it atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)"
        );
        assert_eq!(of(Words::OpenCl, Orders::Update), "make its scope memory_scope_device");
        assert_eq!(of(Words::GlslWithSemantics, Orders::Fence), "make its scope gl_ScopeDevice");
    }
}
