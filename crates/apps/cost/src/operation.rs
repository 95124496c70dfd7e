//! The operations whose cost is measured.

use std::fmt;

use wattle::memory::Scope;
use wattle::{Device, DeviceKind, Error, LaunchOptions, Queue, Result, ThreadSpec};

use crate::cuda;
use crate::kernels::{self, Buffers, Code, Loop};
use crate::operation_kind::OperationKind;

/// An operation: what, and where it has them its order and its scope.
#[derive(Clone, Copy)]
pub struct Operation {
    /// The kind of operation.
    pub kind: OperationKind,
    /// The name of its order.
    pub order: Option<&'static str>,
    /// The scope of the operation, where it has one.
    pub scope: Option<Scope>,
    /// How an operation that is not Wattle's is spelt.
    pub(crate) spelling: Option<&'static str>,
    pub(crate) code: LoopCode,
}

/// The code of a timed loop.
#[derive(Clone, Copy)]
pub enum LoopCode {
    /// A kernel of Wattle's.
    Kernel(Code),
    /// The kernel of this name that was written in CUDA C++.
    Cuda(&'static str),
}

impl LoopCode {
    /// Launches the loop on a queue; `shared` is the number of words of the launch's shared memory.
    ///
    /// # Errors
    /// The launch is refused.
    pub fn launch(
        self,
        queue: &Queue,
        shared: u32,
        spec: ThreadSpec<1>,
        numbers: &Loop,
        buffers: &Buffers,
    ) -> Result<()> {
        match self {
            LoopCode::Kernel(code) => {
                (code.launch)(queue, LaunchOptions::new().shared_len(shared), spec, numbers, buffers)
            }
            LoopCode::Cuda(kernel) => cuda::launch(kernel, queue, shared, spec, numbers, buffers),
        }
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operation({self})")
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(spelling) = self.spelling {
            return f.write_str(spelling);
        }
        write!(f, "{}", self.kind.name())?;
        self.order.map_or(Ok(()), |order| write!(f, " {order}"))?;
        self.scope.map_or(Ok(()), |scope| write!(f, " {scope}"))
    }
}

impl Operation {
    /// All operations that a device with these scopes has.
    pub fn all(scopes: &[Scope]) -> Vec<Operation> {
        let scoped = |&(kind, order, codes): &(OperationKind, &'static str, [Code; 3])| {
            let of_scope = move |scope: &Scope| Operation {
                kind,
                order: Some(order),
                scope: Some(*scope),
                spelling: None,
                code: LoopCode::Kernel(codes[*scope as usize]),
            };
            scopes.iter().map(of_scope).collect::<Vec<_>>()
        };
        let barrier = |kind, code| {
            let code = LoopCode::Kernel(code);
            Operation { kind, order: None, scope: None, spelling: None, code }
        };
        let barriers = [
            barrier(OperationKind::SyncBlock, kernels::sync_block::code::<0>()),
            barrier(OperationKind::SyncWarp, kernels::sync_warp::code::<0>()),
        ];
        kernels::ORDERED.iter().flat_map(scoped).chain(barriers).collect()
    }

    /// Whether the host has no instruction for it: fences of block scope, and on x86-64 those that are not sequentially
    /// consistent (the lowering table).
    pub(crate) fn is_none_on_host(&self) -> bool {
        let orders_by_itself = cfg!(target_arch = "x86_64") && self.order != Some("SeqCst");
        self.kind == OperationKind::Fence && (self.scope == Some(Scope::Block) || orders_by_itself)
    }

    /// The loop that it is compared with on a device.
    pub(crate) fn without(&self, device: &Device) -> LoopCode {
        match self.code {
            LoopCode::Kernel(_) => LoopCode::Kernel(self.without_kernel(device)),
            LoopCode::Cuda(_) if self.kind.is_chain() => LoopCode::Cuda(cuda::CHAIN),
            LoopCode::Cuda(_) => LoopCode::Cuda(cuda::NOTHING),
        }
    }

    /// The kernel of Wattle's that it is compared with on a device.
    fn without_kernel(&self, device: &Device) -> Code {
        let is_wide = self.scope.is_some_and(|scope| scope > Scope::Block);
        let is_host = device.properties().kind == DeviceKind::Host;
        match (self.kind.is_chain(), is_host, is_wide) {
            (false, false, false) => kernels::nothing::code::<0>(),
            (false, false, true) => kernels::nothing::code::<1>(),
            (false, true, false) => kernels::nothing_moves::code::<0>(),
            (false, true, true) => kernels::nothing_moves::code::<1>(),
            (true, false, false) => kernels::chain::code::<0>(),
            (true, false, true) => kernels::chain::code::<1>(),
            (true, true, false) => kernels::chain_moves_nothing::code::<0>(),
            (true, true, true) => kernels::chain_moves_nothing::code::<1>(),
        }
    }

    /// The kernels of its loop and of the loop without it on a device, for whoever wants to read what is measured.
    /// The buffers are of the host.
    ///
    /// # Errors
    /// The device has no memory for the loops' buffers.
    pub fn kernels(&self, device: &Device) -> Result<[Box<dyn wattle::Kernel>; 2]> {
        let host = Device::host();
        let buffers = kernels::Buffers::new(&host, host.alloc_zeroed::<u32>(1)?.view(), 1)?;
        let with = match self.code {
            LoopCode::Kernel(code) => code,
            LoopCode::Cuda(kernel) => {
                let why = "it was written in CUDA C++: read `peers/loops.cu`";
                return Err(Error::capability(device.name(), format!("give the kernel `{kernel}`"), why));
            }
        };
        Ok([with, self.without_kernel(device)].map(|code| (code.kernel)(&Loop::default(), &buffers)))
    }
}
