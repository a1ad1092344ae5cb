/// Work that is too long for one turn of the loop. It runs in slices, alternating with all other sliced work.
public protocol SlicedWork: AnyObject {
    /// Runs a part that takes at most about half a millisecond. Returns whether there is more to do.
    func runSlice() -> Bool
}

/// Work that waits for its next slice, first in, first out.
struct WorkQueue {
    private var items: [any SlicedWork] = []
    private var head = 0

    var isEmpty: Bool { head == items.count }
    var count: Int { items.count - head }

    mutating func append(_ work: any SlicedWork) { items.append(work) }

    /// Removes and returns the item that has waited longest; nil if none waits.
    mutating func popFirst() -> (any SlicedWork)? {
        guard head < items.count else { return nil }
        let first = items[head]
        head += 1
        // Each item is moved at most once for each that was taken out.
        if head > items.count / 2 {
            items.removeFirst(head)
            head = 0
        }
        return first
    }
}

/// Sliced work that is a closure.
public final class Slices: SlicedWork {
    private let body: () -> Bool

    /// - Parameter body: runs a slice; returns whether there is more to do.
    public init(_ body: @escaping () -> Bool) { self.body = body }

    /// Work for each element of a list, in order, up to 64 or for half a millisecond in a slice. Each element is
    /// released when it is done, so that the end of the work does not free all of them in one step.
    public static func forEach<Element>(
        of elements: [Element], _ body: @escaping (Element) -> Void, completion: @escaping () -> Void = {}
    ) -> Slices {
        var rest = Array(elements.reversed())
        return Slices {
            let slice = TimeSlice(microseconds: 500)
            for _ in 0..<64 {
                guard let next = rest.popLast() else { break }
                body(next)
                if slice.isOver { break }
            }
            if rest.isEmpty { completion() }
            return !rest.isEmpty
        }
    }

    /// Runs a slice.
    public func runSlice() -> Bool { body() }
}
