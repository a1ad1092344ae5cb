/// Whoever wants to hear of changes, for those who make a ``Connectivity``. As many as requests wait, so bounded by their number.
public struct ConnectivityObservers {
    private var bodies: [Int: () -> Void] = [:]
    private var last = 0

    /// Nobody.
    public init() {}

    /// How many there are.
    public var count: Int { bodies.count }

    /// Those there are, in order. One that another has taken back meanwhile is not to be called.
    public var numbers: [Int] { bodies.keys.sorted() }

    /// The body of a number.
    public subscript(number: Int) -> (() -> Void)? { bodies[number] }

    /// Adds a body and gives its number.
    public mutating func add(_ body: @escaping () -> Void) -> Int {
        last &+= 1
        bodies[last] = body
        return last
    }

    /// Takes a body back.
    public mutating func remove(_ number: Int) { bodies[number] = nil }
}
