//! Prints kernels: one statement a line, with the source line behind those that have one.

use std::fmt::{self, Write as _};

use crate::message::Message;
use crate::{
    Builtin, Const, Expr, ExprId, Kernel, Label, LocalArray, Param, ParamKind, Place, SharedLen, SlotId, Stmt, Type,
    eval,
};

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer { kernel: self, text: String::new(), indent: 0 };
        printer.kernel()?;
        f.write_str(&printer.text)
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.field.map_or("", |field| field.path);
        match self.kind {
            ParamKind::Scalar(ty) => write!(f, "{}{path}: {ty}", self.name),
            ParamKind::View { access, element, rank } => {
                let of = if path.is_empty() { "" } else { "[]" };
                write!(f, "{}{of}{path}: {access:?}<{element}, {rank}>", self.name)
            }
        }
    }
}

struct Printer<'k> {
    kernel: &'k Kernel,
    text: String,
    indent: usize,
}

/// The column where source lines stand.
const SOURCE_COLUMN: usize = 72;

impl Printer<'_> {
    fn kernel(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        writeln!(self.text, "kernel {} rank {}  // {}", kernel.name, kernel.rank, kernel.site)?;
        for param in &kernel.params {
            writeln!(self.text, "  param {param}")?;
        }
        for (number, array) in kernel.shared.iter().enumerate() {
            let kind = if array.atomic { "atomic" } else { "plain" };
            let name = array.name;
            match array.len {
                SharedLen::Static(len) => {
                    writeln!(self.text, "  shared {name}.{number}: {kind} [{}; {len}]", array.element)?
                }
                SharedLen::Grid(extents) => {
                    let each: Vec<_> = extents.each[..extents.rank].iter().map(u32::to_string).collect();
                    writeln!(self.text, "  shared {name}.{number}: {kind} [{}; {}]", array.element, each.join(", "))?;
                }
                SharedLen::AtLaunch => {
                    writeln!(self.text, "  shared {name}.{number}: {kind} [{}] sized at launch", array.element)?;
                }
            }
        }
        for (number, array) in kernel.locals.iter().enumerate() {
            let LocalArray { element, len, constants } = array;
            match constants {
                None => writeln!(self.text, "  local a{number}: [{element}; {len}]")?,
                Some(all) => {
                    let all = all.iter().map(|&raw| eval::debug(*element, raw)).collect::<Vec<_>>().join(", ");
                    writeln!(self.text, "  constants a{number}: [{element}; {len}] = [{all}]")?;
                }
            }
        }
        self.text.push_str("{\n");
        self.block(&kernel.body)?;
        self.text.push_str("}\n");
        Ok(())
    }

    fn line(&mut self, stmt: &Stmt, text: &str) -> fmt::Result {
        let indent = self.indent * 2 + 2;
        match stmt.site() {
            Some(site) => {
                let width = SOURCE_COLUMN.saturating_sub(indent);
                write!(self.text, "{:indent$}{text:<width$} // line {}", "", site.line)?;
                // What a device function of another file does stands there.
                if site.file != self.kernel.site.file {
                    write!(self.text, " of {}", site.file)?;
                }
                self.text.push('\n');
                Ok(())
            }
            None => writeln!(self.text, "{:indent$}{text}", ""),
        }
    }

    fn block(&mut self, block: &[Stmt]) -> fmt::Result {
        block.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn nested(&mut self, block: &[Stmt]) -> fmt::Result {
        self.indent += 1;
        let printed = self.block(block);
        self.indent -= 1;
        printed
    }

    fn plain(&mut self, text: &str) -> fmt::Result {
        let indent = self.indent * 2 + 2;
        writeln!(self.text, "{:indent$}{text}", "")
    }

    fn stmt(&mut self, stmt: &Stmt) -> fmt::Result {
        let text = match stmt {
            Stmt::Assign { slot, value } => format!("{} = {}", self.slot(*slot), self.expr(*value)),
            Stmt::Divide { dst, op, left, right, .. } => {
                let sign = if *op == crate::DivOp::Div { '/' } else { '%' };
                format!("{} = {} {sign} {}", self.slot(*dst), self.operand(*left), self.operand(*right))
            }
            Stmt::Load { dst, place, index, .. } => format!("{} = load {}", self.slot(*dst), self.at(*place, index)),
            Stmt::LoadLanes { dst, place, index, .. } => {
                format!("{dst:?} = load lanes {}", self.at(*place, &[*index]))
            }
            Stmt::Store { place, index, value, .. } => {
                format!("store {} = {}", self.at(*place, index), self.expr(*value))
            }
            Stmt::StoreLanes { place, index, values, .. } => {
                let values: Vec<_> = values.iter().map(|&value| self.expr(value)).collect();
                format!("store lanes {} = {}", self.at(*place, &[*index]), values.join(", "))
            }
            Stmt::AtomicLoad { dst, place, index, order, scope, .. } => {
                format!("{} = atomic load {} {order} {scope}", self.slot(*dst), self.at(*place, index))
            }
            Stmt::AtomicStore { place, index, value, order, scope, .. } => {
                format!("atomic store {} = {} {order} {scope}", self.at(*place, index), self.expr(*value))
            }
            Stmt::AtomicUpdate { dst, op, place, index, operand, order, scope, .. } => {
                let (dst, at, operand) = (self.slot(*dst), self.at(*place, index), self.expr(*operand));
                format!("{dst} = atomic {} {at}, {operand} {order} {scope}", op.name())
            }
            Stmt::CompareExchange { dst, place, index, expected, desired, order, scope, .. } => {
                let (dst, at) = (self.slot(*dst), self.at(*place, index));
                let (expected, desired) = (self.expr(*expected), self.expr(*desired));
                format!("{dst} = atomic compare_exchange {at}, {expected} -> {desired} {order} {scope}")
            }
            Stmt::Fence { order, scope, .. } => format!("fence {order} {scope}"),
            Stmt::Barrier { .. } => "barrier".to_owned(),
            Stmt::Warp { dst, op, value, operand, .. } => {
                let operands = [Some(*value), *operand].into_iter().flatten();
                let operands: Vec<_> = operands.map(|id| self.expr(id)).collect();
                format!("{} = warp {} {}", self.slot(*dst), op.name(), operands.join(", "))
            }
            Stmt::WarpBarrier { .. } => "warp barrier".to_owned(),
            Stmt::If { condition, then, otherwise } => {
                let text = format!("if {} {{", self.expr(*condition));
                self.plain(&text)?;
                self.nested(then)?;
                if !otherwise.is_empty() {
                    self.plain("} else {")?;
                    self.nested(otherwise)?;
                }
                return self.plain("}");
            }
            Stmt::Loop { label, body, continuing, bounded, .. } => {
                let kind = if *bounded { "bounded loop" } else { "loop" };
                self.line(stmt, &format!("{}: {kind} {{", label_name(*label)))?;
                self.nested(body)?;
                if !continuing.is_empty() {
                    self.plain("} continuing {")?;
                    self.nested(continuing)?;
                }
                return self.plain("}");
            }
            Stmt::Block { label, body } => {
                self.plain(&format!("{}: {{", label_name(*label)))?;
                self.nested(body)?;
                return self.plain("}");
            }
            Stmt::Break(label) => format!("break {}", label_name(*label)),
            Stmt::Continue(label) => format!("continue {}", label_name(*label)),
            Stmt::Return => "return".to_owned(),
            Stmt::Fault { fault, index, .. } => {
                let index: Vec<_> = index.iter().map(|id| self.expr(*id)).collect();
                format!("fault {fault:?} [{}]", index.join(", "))
            }
            Stmt::Assert { condition, message, .. } => {
                format!("assert {}, {}", self.expr(*condition), self.message(message))
            }
            Stmt::Print { message, .. } => format!("print {}", self.message(message)),
            Stmt::Clock { dst, .. } => format!("{} = clock", self.slot(*dst)),
        };
        self.line(stmt, &text)
    }

    fn message(&self, Message { text, arguments }: &Message) -> String {
        let values = arguments.iter().map(|id| format!(", {}", self.expr(*id)));
        format!("{:?}{}", text.to_string(), values.collect::<String>())
    }

    fn slot(&self, slot: SlotId) -> String {
        match self.kernel.slots.get(slot.index()).and_then(|slot| slot.name) {
            Some(name) => format!("{name}.{}", slot.0),
            None => format!("s{}", slot.0),
        }
    }

    fn place(&self, place: Place) -> String {
        match place {
            Place::Param(id) => match self.kernel.params.get(id.index()) {
                Some(param) => param.name.to_owned(),
                None => format!("{id:?}"),
            },
            Place::Shared(id) => match self.kernel.shared.get(id.index()) {
                Some(array) => format!("{}.{}", array.name, id.0),
                None => format!("{id:?}"),
            },
            Place::Local(id) => format!("{id:?}"),
        }
    }

    fn at(&self, place: Place, index: &[ExprId]) -> String {
        let index: Vec<_> = index.iter().map(|&index| self.expr(index)).collect();
        format!("{}[{}]{}", self.place(place), index.join(", "), self.kernel.path(place))
    }

    /// An expression within another one.
    fn operand(&self, id: ExprId) -> String {
        let text = self.expr(id);
        match self.kernel.exprs.get(id.index()) {
            Some(Expr::Binary(op, ..)) if op.is_sign() => format!("({text})"),
            _ => text,
        }
    }

    fn expr(&self, id: ExprId) -> String {
        let Some(expr) = self.kernel.exprs.get(id.index()) else { return format!("{id:?}") };
        match *expr {
            Expr::Const(constant) => constant_text(constant),
            Expr::Slot(slot) => self.slot(slot),
            Expr::Param(param) => self.place(Place::Param(param)) + self.kernel.path(Place::Param(param)),
            Expr::Extent(place, dimension) => format!("extent({}, {dimension})", self.place(place)),
            Expr::Builtin(builtin, dimension) => format!("{}({dimension})", builtin_name(builtin)),
            Expr::Unary(op, x) if op.is_sign() => format!("{}{}", op.name(), self.operand(x)),
            Expr::Unary(op, x) => format!("{}({})", op.name(), self.expr(x)),
            Expr::Binary(op, x, y) if op.is_sign() => {
                format!("{} {} {}", self.operand(x), op.name(), self.operand(y))
            }
            Expr::Binary(op, x, y) => format!("{}({}, {})", op.name(), self.expr(x), self.expr(y)),
            Expr::Ternary(op, x, y, z) => {
                format!("{}({}, {}, {})", op.name(), self.expr(x), self.expr(y), self.expr(z))
            }
            Expr::Select(c, x, y) => format!("select({}, {}, {})", self.expr(c), self.expr(x), self.expr(y)),
            Expr::Cast(ty, x) => format!("{ty}({})", self.expr(x)),
            Expr::Bits(ty, x) => format!("bits_{ty}({})", self.expr(x)),
        }
    }
}

fn label_name(label: Label) -> String {
    format!("l{}", label.0)
}

fn builtin_name(builtin: Builtin) -> &'static str {
    match builtin {
        Builtin::ThreadInBlock => "thread_in_block",
        Builtin::BlockInGrid => "block_in_grid",
        Builtin::BlockExtent => "block_extent",
        Builtin::GridExtent => "grid_extent",
        Builtin::FrameCount => "frame_count",
        Builtin::FrameExtent => "frame_extent",
        Builtin::WarpSize => "warp_size",
        Builtin::Lane => "lane",
        Builtin::WarpInBlock => "warp_in_block",
        Builtin::Device(property) => property.name(),
    }
}

fn constant_text(Const { ty, raw }: Const) -> String {
    let value = eval::debug(ty, raw);
    match ty {
        Type::Bool | Type::U32 => value,
        _ => format!("{value}{ty}"),
    }
}
