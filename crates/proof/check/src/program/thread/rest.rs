//! What is left to do of a thread's last request.

use wattle_ir::Type;
use wattle_memory::{FenceOrder, Label, Lowered, NoScope, Scope};

use super::{Awaited, KernelThread};
use crate::program::world::HIDDEN;
use crate::program::{LaunchWorld, World};
use crate::search::{AccessTarget, Action, Address, Change};

/// A remaining action of a request.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Rest {
    /// A fence with its label and its statement.
    Fence(Label, u32),
    /// An update of the hidden word, as a part of a fence.
    Hidden { read: Label, write: Label, source: u32 },
    /// A read of an element of a load of `of` elements.
    Lane { of: u32, address: Option<Address>, bytes: u8, label: Label, source: u32 },
    /// The action of the request itself.
    Action(Box<Held>),
}

/// A request's own action, which may be kept for later.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Held {
    Read { target: Option<AccessTarget>, label: Label, source: u32 },
    Write { target: Option<AccessTarget>, value: Option<u64>, label: Label, source: u32 },
    Barrier { label: Label, instance: u64, source: u32 },
}

impl KernelThread {
    /// Puts the actions of a fence before those kept already.
    pub(super) fn push_fence(
        &mut self,
        launch: &LaunchWorld,
        order: FenceOrder,
        scope: Scope,
        source: u32,
    ) -> Result<(), NoScope> {
        for step in launch.lowering.fence(order, scope)?.into_iter().rev() {
            self.rest.push(match step {
                Lowered::Fence(label) => Rest::Fence(label, source),
                Lowered::HiddenUpdate { read, write } => Rest::Hidden { read, write, source },
            });
        }
        Ok(())
    }

    /// The next remaining action of the last request.
    pub(super) fn resume(&mut self, world: &World) -> Option<Action> {
        Some(match self.rest.pop()? {
            Rest::Fence(label, source) => Action::Fence { label, source },
            Rest::Hidden { read, write, source } => {
                self.awaited = Awaited::Nothing;
                let target =
                    AccessTarget { address: Address { memory: HIDDEN, element: 0 }, bytes: 4, reference: HIDDEN };
                let op = wattle_ir::AtomicOp::Add;
                let change = Change::Apply { op, ty: Type::U32, operand: Some(0) };
                Action::Update { target: Some(target), change, read, write, source }
            }
            Rest::Lane { of, address, bytes, label, source } => {
                self.awaited = Awaited::Lane { of };
                let target = address.map(|address| AccessTarget { address, bytes, reference: address.memory });
                Action::Read { target, label, source }
            }
            Rest::Action(held) => self.held(world, *held),
        })
    }

    /// The action of a request itself, which the thread comes to now.
    pub(super) fn held(&mut self, world: &World, held: Held) -> Action {
        match held {
            Held::Read { target, label, source } => {
                self.awaited = Awaited::Value;
                Action::Read { target, label, source }
            }
            Held::Write { target, value, label, source } => Action::Write { target, value, label, source },
            Held::Barrier { label, instance, source } => self.barrier(self.launch(world), label, instance, source),
        }
    }
}
