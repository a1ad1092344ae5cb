/// The observers of a ``Connectivity``, for its implementations. Their number is bounded by that of the waiting
/// requests.
public struct ConnectivityObservers {
    private var bodies: [Int: () -> Void] = [:]
    private var last = 0

    /// Makes an empty list.
    public init() {}

    /// The number of observers.
    public var count: Int { bodies.count }

    /// The numbers of the observers, in order. One that was removed during the calls must not be called.
    public var numbers: [Int] { bodies.keys.sorted() }

    /// The body of an observer.
    public subscript(number: Int) -> (() -> Void)? { bodies[number] }

    /// Adds a body and returns its number.
    public mutating func add(_ body: @escaping () -> Void) -> Int {
        last += 1
        bodies[last] = body
        return last
    }

    /// Removes a body.
    public mutating func remove(_ number: Int) { bodies[number] = nil }
}
