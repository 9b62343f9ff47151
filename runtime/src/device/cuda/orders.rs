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
    /// Where an order is that stays under a number. No kernel is under way: what makes room is nobody's.
    pub(super) fn kept_order(&mut self, number: u64, order: &[u32]) -> Result<DevicePtr, DeviceError> {
        if let Some(there) = self.orders.find(number) {
            return Ok(there);
        }
        let there = self.copied_order(order)?;
        if let Some(oldest) = self.orders.keep(number, there) {
            self.free(oldest);
        }
        Ok(there)
    }

    fn copied_order(&mut self, order: &[u32]) -> Result<DevicePtr, DeviceError> {
        let bytes = order.len() as u64 * 4;
        let there = self.allocate(bytes)?;
        match self.copy_in(&[(order.as_ptr() as u64, bytes, there)], &[]) {
            Ok(()) => Ok(there),
            Err(error) => {
                self.free(there);
                Err(error)
            }
        }
    }

    /// A launch's order, and whether it stays.
    pub(super) fn hand_over(
        &mut self,
        launch: &Launch<'_>,
    ) -> Result<Option<(DevicePtr, bool)>, DeviceError> {
        Ok(match (launch.schedule, launch.kept_as) {
            (None, _) => None,
            (Some(schedule), Some(number)) => Some((self.kept_order(number, &schedule.order)?, true)),
            (Some(schedule), None) => Some((self.copied_order(&schedule.order)?, false)),
        })
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
