/// The origins of one user, in the order in which they came.
final class UserPools {
    /// The number under which the admission queue keeps their sums.
    let number: Int
    var pools = FIFOQueue<OriginPool>()

    init(number: Int) { self.number = number }
}
