import Glibc
import Synchronization
import Testing

@testable import CarpoolSystem

/// Posts, the list that threads add them to, and the queue of the thread that takes them.
@Suite(.timeLimit(.minutes(1))) struct PostTests {
    private final class Numbered: Post, @unchecked Sendable {
        let producer: Int
        let number: Int

        init(_ number: Int, of producer: Int = 0) {
            (self.producer, self.number) = (producer, number)
        }
    }

    private final class Counted: Post, @unchecked Sendable {
        private let onRelease: @Sendable () -> Void
        init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
        deinit { onRelease() }
    }

    /// A list in an object, which threads share.
    private final class Shared: Sendable {
        let list = PostList()
        let released = Atomic<Int>(0)
    }

    private static func numbers(_ queue: inout PostQueue) -> [Int] {
        var found: [Int] = []
        while let post = queue.removeFirst()?.takeRetainedValue() as? Numbered { found.append(post.number) }
        return found
    }

    @Test func postsAreTakenInTheOrderInWhichTheyWereAdded() {
        let list = PostList()
        var queue = PostQueue()
        queue.takeAll(of: list)
        #expect(Self.numbers(&queue) == [])
        for number in 0..<5 { list.add(.passRetained(Numbered(number))) }
        queue.append(.passRetained(Numbered(-1)))
        queue.takeAll(of: list)
        let count = queue.count
        #expect(count == 6)
        list.add(.passRetained(Numbered(5)))
        queue.takeAll(of: list)
        queue.append(.passRetained(Numbered(6)))
        #expect(Self.numbers(&queue) == Array(-1...6))
        let isEmpty = queue.isEmpty && queue.count == 0
        #expect(isEmpty)
    }

    @Test func aPostThatIsNotTakenIsReleasedWithItsListOrQueue() {
        let released = Shared()
        func post() -> Unmanaged<Post> {
            .passRetained(Counted { released.released.add(1, ordering: .relaxed) })
        }
        do {
            let list = PostList()
            var queue = PostQueue()
            for _ in 0..<3 { list.add(post()) }
            queue.takeAll(of: list)
            queue.removeFirst()?.release()
            #expect(released.released.load(ordering: .relaxed) == 1)
            for _ in 0..<2 { list.add(post()) }
        }
        #expect(released.released.load(ordering: .relaxed) == 5)
    }

    @Test func manyThreadsAddWhileOneTakes() {
        let (producers, posts) = (4, 20_000)
        let shared = Shared()
        let threads = (0..<producers).map { producer in
            Thread { for number in 0..<posts { shared.list.add(.passRetained(Numbered(number, of: producer))) } }
        }
        var queue = PostQueue()
        var next = [Int](repeating: 0, count: producers)
        var isInOrder = true
        while next.reduce(0, +) < producers * posts {
            queue.takeAll(of: shared.list)
            if queue.isEmpty { sched_yield() }
            while let post = queue.removeFirst()?.takeRetainedValue() as? Numbered {
                isInOrder = isInOrder && next[post.producer] == post.number
                next[post.producer] += 1
            }
        }
        for thread in threads { thread.join() }
        #expect(isInOrder)
        #expect(next == [Int](repeating: posts, count: producers))
        queue.takeAll(of: shared.list)
        #expect(Self.numbers(&queue) == [])
    }
}
