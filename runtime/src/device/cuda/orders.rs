//! Orders of iterations in the GPU's memory. One that is handed over under a number stays there: it is the same for all entries that rely on one
//! finding, so it is copied once. What stays is little (`inspector::turns` has no order of more than a million iterations), and what was asked for
//! longest ago makes room.

use super::Cuda;
use crate::device::{Device, DeviceError, DevicePtr, Launch};

/// Orders that stay.
const MOST: usize = 16;

/// Those that stay, with their numbers; what was asked for last comes last.
#[derive(Default)]
pub(super) struct Orders(Vec<(u64, DevicePtr)>);

impl Orders {
    /// Where the one with this number is.
    fn find(&mut self, number: u64) -> Option<DevicePtr> {
        let at = self.0.iter().position(|(known, _)| *known == number)?;
        let found = self.0.remove(at);
        self.0.push(found);
        Some(found.1)
    }

    /// One more, and what has to make room for it.
    fn keep(&mut self, number: u64, order: DevicePtr) -> Option<DevicePtr> {
        self.0.push((number, order));
        (self.0.len() > MOST).then(|| self.0.remove(0).1)
    }
}

impl Cuda {
    /// A launch's order, and whether it stays. No kernel is under way: what makes room is nobody's.
    pub(super) fn hand_over(
        &mut self,
        launch: &Launch<'_>,
    ) -> Result<Option<(DevicePtr, bool)>, DeviceError> {
        let Some(schedule) = launch.schedule else { return Ok(None) };
        if let Some(order) = launch.kept_as.and_then(|number| self.orders.find(number)) {
            return Ok(Some((order, true)));
        }
        let bytes = schedule.order.len() as u64 * 4;
        let order = self.allocate(bytes)?;
        if let Err(error) = self.copy_in(&[(schedule.order.as_ptr() as u64, bytes, order)], &[]) {
            self.free(order);
            return Err(error);
        }
        let Some(number) = launch.kept_as else { return Ok(Some((order, false))) };
        if let Some(oldest) = self.orders.keep(number, order) {
            self.free(oldest);
        }
        Ok(Some((order, true)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_longest_ago_makes_room() {
        let mut orders = Orders::default();
        for number in 0..MOST as u64 {
            assert_eq!(orders.keep(number, DevicePtr(100 + number)), None);
        }
        assert_eq!((orders.find(0), orders.find(MOST as u64)), (Some(DevicePtr(100)), None));
        assert_eq!(orders.keep(MOST as u64, DevicePtr(7)), Some(DevicePtr(101)));
        assert_eq!((orders.find(1), orders.find(0)), (None, Some(DevicePtr(100))));
    }
}
