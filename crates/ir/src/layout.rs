//! What memory can hold besides single numbers: how an element is made of numbers.

use crate::Type;

/// The most numbers that an element of memory has.
pub const MOST_NUMBERS: usize = 32;
/// The most names and indices on the way to a number of an element: `.cell.corners[3].x` has 4.
const MOST_STEPS: usize = 6;

/// The layout of an element of memory: of a number, an array or a struct.
///
/// Its numbers are in the order of their offsets and fill it: no byte is padding.
#[derive(Clone, Copy, Debug)]
pub struct ElementLayout {
    /// The size in bytes.
    size: u32,
    len: usize,
    numbers: [Leaf; MOST_NUMBERS],
}

/// A number of an element.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// The number's type in memory: see [`Type::stored`].
    pub ty: Type,
    /// Whether the number is the byte of a truth value, which is 0 or 1.
    pub is_bool: bool,
    /// The number's offset in the element, in bytes.
    pub offset: u32,
    steps: [PathStep; MOST_STEPS],
}

/// A step on the way from an element to one of its numbers.
#[derive(Clone, Copy, Debug)]
enum PathStep {
    /// The way has no step here: ways shorter than [`MOST_STEPS`] are filled up with this.
    None,
    /// To the field of a struct.
    Name(&'static str),
    /// To the element of an array.
    Index(u32),
}

impl Leaf {
    /// A raw word for memory that nobody has written: valid, and like nothing that a program expects there.
    pub fn unwritten(&self) -> u64 {
        if self.is_bool { 1 } else { 0xa5a5_a5a5_a5a5_a5a5 }
    }

    const NONE: Leaf = Leaf { ty: Type::U8, is_bool: false, offset: 0, steps: [PathStep::None; MOST_STEPS] };

    /// The type of its value.
    pub const fn value_type(&self) -> Type {
        if self.is_bool { Type::Bool } else { self.ty }
    }

    /// The number's bytes among those of the element.
    pub fn range(&self) -> std::ops::Range<usize> {
        let from = self.offset as usize;
        from..from + self.ty.size()
    }

    /// The way from the element to the number, as it is written behind the element: `.position[2]`; empty where the
    /// element is the number.
    pub fn path(&self) -> String {
        let step = |step: &PathStep| match step {
            PathStep::None => String::new(),
            PathStep::Name(name) => format!(".{name}"),
            PathStep::Index(index) => format!("[{index}]"),
        };
        self.steps.iter().map(step).collect()
    }

    /// The number as a part of the struct or array around it: `step` leads there, and `offset` bytes are before it.
    const fn within(mut self, step: PathStep, offset: u32) -> Leaf {
        assert!(
            matches!(self.steps[MOST_STEPS - 1], PathStep::None),
            "the structs and arrays of an element are nested too deeply"
        );
        let mut at = MOST_STEPS - 1;
        while at > 0 {
            self.steps[at] = self.steps[at - 1];
            at -= 1;
        }
        self.steps[0] = step;
        self.offset += offset;
        self
    }
}

impl ElementLayout {
    /// The layout of a number or a truth value.
    pub const fn number(ty: Type) -> ElementLayout {
        let mut numbers = [Leaf::NONE; MOST_NUMBERS];
        numbers[0].ty = ty.stored();
        numbers[0].is_bool = matches!(ty, Type::Bool);
        ElementLayout { size: ty.stored().size() as u32, len: 1, numbers }
    }

    /// The layout of an array.
    pub const fn array(of: &ElementLayout, len: usize) -> ElementLayout {
        assert!(len > 0, "an element of memory has at least one number");
        let mut layout = ElementLayout::structure();
        let mut at = 0;
        while at < len {
            layout = layout.with(PathStep::Index(at as u32), of);
            at += 1;
        }
        layout
    }

    /// The layout of a struct without fields, to which its fields are added.
    pub const fn structure() -> ElementLayout {
        ElementLayout { size: 0, len: 0, numbers: [Leaf::NONE; MOST_NUMBERS] }
    }

    /// The layout of a struct that has a further field behind its others.
    #[must_use]
    pub const fn with_field(self, name: &'static str, of: &ElementLayout) -> ElementLayout {
        self.with(PathStep::Name(name), of)
    }

    const fn with(mut self, step: PathStep, of: &ElementLayout) -> ElementLayout {
        assert!(
            self.len + of.len <= MOST_NUMBERS,
            "an element of memory has at most 32 numbers; put the others into a buffer of their own"
        );
        let mut at = 0;
        while at < of.len {
            self.numbers[self.len] = of.numbers[at].within(step, self.size);
            self.len += 1;
            at += 1;
        }
        self.size += of.size;
        self
    }

    /// The size of an element in bytes.
    pub const fn size(&self) -> usize {
        self.size as usize
    }

    /// Whether the element is a number itself, and no array or struct.
    pub const fn is_number(&self) -> bool {
        self.len == 1 && matches!(self.numbers[0].steps[0], PathStep::None)
    }

    /// How many numbers an element has.
    pub const fn count(&self) -> usize {
        self.len
    }

    /// Makes every truth value in the bytes of elements true that is neither 0 nor 1, as kernels read it. Bytes become
    /// elements only after this where they are not known to be those of elements: what a device's memory holds before
    /// something is written there may be anything.
    pub fn settle(&self, elements: &mut [u8]) {
        for leaf in self.bools() {
            let bytes = elements.iter_mut().skip(leaf.offset as usize).step_by(self.size());
            bytes.for_each(|byte| *byte = u8::from(*byte != 0));
        }
    }

    /// The truth values among the numbers.
    pub fn bools(&self) -> impl Iterator<Item = &Leaf> {
        self.numbers().iter().filter(|leaf| leaf.is_bool)
    }

    /// Whether there are truth values among the numbers. Known when a kernel is compiled, since each access of the host
    /// to a block's memory depends on it.
    pub const fn has_bools(&self) -> bool {
        let mut at = 0;
        while at < self.len {
            if self.numbers[at].is_bool {
                return true;
            }
            at += 1;
        }
        false
    }

    /// The numbers, in the order of their offsets. Inlined, since each relaxed access of the host goes through it.
    #[inline]
    pub fn numbers(&self) -> &[Leaf] {
        &self.numbers[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_values_are_settled_and_nothing_else() {
        let flags = ElementLayout::array(&ElementLayout::number(Type::Bool), 2);
        let layout = ElementLayout::structure()
            .with_field("id", &ElementLayout::number(Type::U16))
            .with_field("flags", &flags)
            .with_field("weight", &ElementLayout::number(Type::F32));
        assert_eq!((layout.size(), layout.count(), flags.size()), (8, 4, 2));
        assert!(layout.has_bools() && flags.has_bools() && !ElementLayout::number(Type::U8).has_bools());
        let mut elements = [[3u8, 4, 5, 0, 6, 7, 8, 9], [0, 9, 1, 0x80, 0, 2, 0, 255]];
        layout.settle(elements.as_flattened_mut());
        assert_eq!(elements, [[3u8, 4, 1, 0, 6, 7, 8, 9], [0, 9, 1, 1, 0, 2, 0, 255]]);
    }
}
