//! The blocks and threads of a launch: lines, and tiles of two dimensions. How much of a loop one launch does is in `pace.rs`.

use super::kernels::Loaded;
use super::{BLOCK, Cuda, TILE_WIDTH};
use crate::abi;
use crate::device::Specialisation;

/// The same where threads have several rows and one column each: longer pieces of fewer rows are under way then, which memory likes better
/// (`docs/measurements/2026-11-24-forms.md`).
const WIDE: u32 = 2 * TILE_WIDTH;

/// Most blocks of a grid along y, and along z.
const MOST_BLOCKS: u64 = 65535;

/// How often the blocks of a line fill the GPU: few threads with many iterations each leave processors idle in the end, and each thread
/// has something to prepare (`docs/measurements/2026-11-23-stencils-and-stamps.md`).
pub(super) const ROUNDS: u64 = 32;

/// The same where each of them has a result to give.
pub(super) const ROUNDS_OF_RESULTS: u64 = 4;

/// The same where several launches share the iterations, each of which has few.
pub(super) const ROUNDS_OF_PORTIONS: u64 = 2;

/// Blocks of a launch in three directions, and threads of a block in two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Grid {
    pub(super) blocks: (u32, u32, u32),
    pub(super) block: (u32, u32),
}

/// The blocks of tiles: a thread for each group of iterations; see [`Specialisation::tile`]. Rows are blocks along y, layers those
/// along z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tiles {
    /// Threads of a block along x.
    pub(super) width: u32,
    pub(super) columns: u64,
    pub(super) rows: u64,
    pub(super) layers: u64,
}

impl Tiles {
    /// Threads of blocks whose iterations share ([`Specialisation::shares`]) work together, and count on where each of them is.
    pub(super) fn new(
        trip: &[u64; abi::PG_MAX_DIMS],
        (x, y): (u8, u8),
        &Specialisation { group: (rows, columns), across, shares, .. }: &Specialisation,
    ) -> Tiles {
        let (x, y) = (usize::from(x), usize::from(y));
        let rows_along = across.map_or(y, usize::from);
        let others = (0..trip.len()).filter(|dim| ![x, y].contains(dim)).map(|dim| match dim == rows_along {
            true => trip[dim].div_ceil(u64::from(rows)),
            false => trip[dim],
        });
        let rows_in_y = if rows_along == y { rows } else { 1 };
        let covered = |width: u32| trip[x].next_multiple_of(u64::from(width));
        // Not where many of its threads would have nothing to do.
        let is_long = trip[x] > 2 * u64::from(WIDE) && covered(WIDE) - covered(TILE_WIDTH) <= trip[x] / 16;
        let is_wide = rows > 1 && columns == 1 && is_long && !shares;
        let width = if is_wide { WIDE } else { TILE_WIDTH };
        Tiles {
            width,
            columns: trip[x].div_ceil(u64::from(width) * u64::from(columns)),
            rows: trip[y].div_ceil(u64::from(BLOCK / width) * u64::from(rows_in_y)),
            layers: others.product(),
        }
    }

    /// The next launch, from row `at` of all layers' rows on, of at most so many rows: rows of one layer, or whole layers. The grid, where
    /// it begins (row and layer), and how many rows it does.
    pub(super) fn next(&self, at: u64, most: u64) -> (Grid, (u32, u32), u64) {
        let (row, layer) = (at % self.rows, at / self.rows);
        let (rows, layers) = match row == 0 && most >= self.rows && self.rows <= MOST_BLOCKS {
            true => (self.rows, (most / self.rows).min(self.layers - layer).min(MOST_BLOCKS)),
            false => (most.min(self.rows - row).min(MOST_BLOCKS), 1),
        };
        let blocks = (self.columns as u32, rows as u32, layers as u32);
        (Grid { blocks, block: (self.width, BLOCK / self.width) }, (row as u32, layer as u32), rows * layers)
    }
}

/// Threads of a block for so much work. Where there is too little for every processor, smaller blocks spread it further. `resident`: how many blocks
/// a processor has shared memory for, if they need it. Smaller ones need as much; those that it isn't enough for would wait for the others to end.
fn block_of_line(work: u64, processors: u32, resident: Option<u32>, most: u32) -> u32 {
    let blocks = |block: u32| work.div_ceil(u64::from(block));
    let fit = |block: u32| {
        block == most || resident.is_none_or(|n| blocks(block) <= u64::from(processors) * u64::from(n.max(1)))
    };
    let sizes = [32, (most / 4).max(32), (most / 2).max(32), most];
    let fill = sizes.iter().rposition(|block| blocks(*block) >= 2 * u64::from(processors)).unwrap_or(0);
    sizes[fill..].iter().copied().find(|block| fit(*block)).unwrap_or(most)
}

impl Cuda {
    /// How a kernel without tiles covers `work` threads' iterations or parts, `columns` of them in each thread at a time.
    /// `rounds`: [`ROUNDS`], or fewer where each thread has something to do in the end.
    pub(super) fn line(&self, kernel: Loaded, work: u64, columns: u8, rounds: u64) -> Grid {
        let at_once = u64::from(self.outline.processors) * u64::from(kernel.resident.max(1));
        // What blocks collect each of them hands over in the end.
        let most = if kernel.room == 0 { u64::MAX } else { at_once };
        if columns > 1 {
            let blocks = work.div_ceil(u64::from(kernel.block) * u64::from(columns)).clamp(1, most);
            return Grid { blocks: (blocks as u32, 1, 1), block: (kernel.block, 1) };
        }
        let resident = kernel.has_room.then_some(kernel.resident);
        let block = block_of_line(work, self.outline.processors, resident, kernel.block);
        let useful = work.div_ceil(u64::from(block)).clamp(1, most);
        let room = at_once * u64::from(kernel.block / block);
        let most = room * rounds;
        Grid { blocks: (useful.min(most) as u32, 1, 1), block: (block, 1) }
    }

    /// The same for a kernel whose blocks have something to do in the end: no more of them than there is room for.
    pub(super) fn line_at_once(&self, resident: u32, work: u64) -> Grid {
        let room = u64::from(self.outline.processors) * u64::from(resident.max(1));
        Grid { blocks: (work.div_ceil(u64::from(BLOCK)).clamp(1, room) as u32, 1, 1), block: (BLOCK, 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::LogMethod;

    #[test]
    fn blocks_are_as_small_as_all_of_them_fit() {
        assert_eq!(
            [100_000, 40_000, 20_000, 500].map(|work| block_of_line(work, 132, None, BLOCK)),
            [256, 128, 64, 32]
        );
        // Of blocks with shared memory two fit into each processor: 264 of 128 threads.
        let with_room = [100_000, 65_536, 40_000, 33_000, 16_000, 8_000]
            .map(|work| block_of_line(work, 132, Some(2), BLOCK));
        assert_eq!(with_room, [256, 256, 256, 128, 64, 32]);
        // Blocks are whole warps.
        let small = [100_000, 20_000, 16_000, 500].map(|work| block_of_line(work, 132, Some(8), 64));
        assert_eq!(small, [64, 64, 32, 32]);
    }

    #[test]
    fn tiles_cover_all_iterations() {
        let kernel = |group| Specialisation { group, ..Specialisation::none(LogMethod::None) };
        let shape = |trip: [u64; 4], group| {
            let tiles = Tiles::new(&trip, (1, 0), &kernel(group));
            let (grid, ..) = tiles.next(0, u64::MAX);
            (grid.block, tiles.columns, tiles.rows, tiles.layers)
        };
        assert_eq!(shape([1000, 1000, 1, 1], (4, 1)), ((64, 4), 16, 63, 1));
        assert_eq!(shape([1000, 1000, 7, 3], (2, 1)), ((64, 4), 16, 125, 21));
        assert_eq!(shape([1000, 190, 1, 1], (4, 1)), ((64, 4), 3, 63, 1));
        // An eighth of its threads would have nothing to do; rows of two blocks are no long pieces.
        assert_eq!(shape([1000, 200, 1, 1], (4, 1)), ((32, 8), 7, 32, 1));
        assert_eq!(shape([1000, 64, 1, 1], (4, 1)), ((32, 8), 2, 32, 1));
        assert_eq!(shape([1000, 1000, 1, 1], (1, 1)), ((32, 8), 32, 125, 1));
        assert_eq!(shape([1000, 1000, 1, 1], (4, 4)), ((32, 8), 8, 32, 1));
        let shared = Specialisation { shares: true, ..kernel((4, 1)) };
        assert_eq!(Tiles::new(&[1000, 1000, 1, 1], (1, 0), &shared).width, TILE_WIDTH);
        // Rows across the tile: as many layers fewer, a row of threads for each of y.
        let across = Specialisation { across: Some(0), ..kernel((4, 1)) };
        let tiles = Tiles::new(&[13, 1000, 1000, 1], (2, 1), &across);
        assert_eq!((tiles.width, tiles.columns, tiles.rows, tiles.layers), (64, 16, 250, 4));
    }
}
