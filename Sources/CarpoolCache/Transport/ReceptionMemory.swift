/// The bytes of bodies that are being received to be stored, of each user. They are counted in steps, so that a piece
/// of a body usually counts nothing.
final class ReceptionMemory {
    private var bytes: [UInt32?: Int] = [:]
    private var total = 0

    /// The most bytes of a user: several bodies of the largest size.
    static let maximumBytes = 67_108_864
    /// The most bytes of all users.
    static let maximumTotalBytes = 268_435_456
    /// The bytes of a step.
    static let step = 65_536

    /// Adds to the bytes of a user; false if there would be too many.
    func add(_ count: Int, of user: UInt32?) -> Bool {
        let now = bytes[user, default: 0] &+ count
        guard now <= ReceptionMemory.maximumBytes, total &+ count <= ReceptionMemory.maximumTotalBytes else {
            return false
        }
        bytes[user] = now
        total &+= count
        return true
    }

    /// Takes bytes of a user away.
    func remove(_ count: Int, of user: UInt32?) {
        guard count > 0, let known = bytes[user] else { return }
        bytes[user] = known > count ? known &- count : nil
        total &-= count
    }
}
