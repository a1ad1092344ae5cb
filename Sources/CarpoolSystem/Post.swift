internal import Synchronization

/// Something that threads pass to each other in a ``PostList``, and that is delivered on the loop in the end.
///
/// `@unchecked Sendable` because one thread at a time has it: the one that adds it to a list, then the one that takes
/// it.
class Post: @unchecked Sendable {
    fileprivate var next: Unmanaged<Post>?

    init() {}

    /// Runs its part that is for a thread of a ``Worker``, if it has one.
    func run() {}

    /// Called once, on the loop.
    func deliver(on loop: EventLoop) {}
}

/// A list to which any thread adds without waiting, and from which a thread takes all that it holds.
///
/// There is no lock, so that a thread that the kernel stops in the middle of an addition delays only its own post. The
/// entries are unmanaged: a thread that has added one does not release it afterwards, because the one that takes it
/// may need memory that the first would lock.
struct PostList: ~Copyable {
    /// The entry that was added last; each refers to the one before it.
    private let last = Atomic<Unmanaged<Post>?>(nil)

    deinit {
        var rest = PostQueue()
        rest.takeAll(of: self)
    }

    /// Adds a retained post.
    func add(_ post: Unmanaged<Post>) {
        var former = last.load(ordering: .relaxed)
        while true {
            post._withUnsafeGuaranteedRef { $0.next = former }
            let (isAdded, current) = last.weakCompareExchange(
                expected: former, desired: post, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            if isAdded { return }
            former = current
        }
    }

    /// Takes all posts: the last one, from which ``Post/next`` leads to the first.
    fileprivate func take() -> Unmanaged<Post>? {
        guard last.load(ordering: .relaxed) != nil else { return nil }
        return last.exchange(nil, ordering: .acquiring)
    }
}

/// Posts that were taken from a ``PostList``, in the order in which they were added. Used by one thread at a time.
struct PostQueue: ~Copyable {
    private var first: Unmanaged<Post>?
    private var last: Unmanaged<Post>?
    private(set) var count = 0

    init() {}

    deinit {
        var next = first
        while let post = next?.takeRetainedValue() { next = post.next }
    }

    var isEmpty: Bool { first == nil }

    /// Appends a retained post.
    mutating func append(_ post: Unmanaged<Post>) {
        post._withUnsafeGuaranteedRef { $0.next = nil }
        append(post, to: post, count: 1)
    }

    /// Appends all that a list holds.
    mutating func takeAll(of list: borrowing PostList) {
        guard let newest = list.take() else { return }
        var (oldest, count) = (newest, 1)
        var former = newest._withUnsafeGuaranteedRef { post in
            defer { post.next = nil }
            return post.next
        }
        while let post = former {
            former = post._withUnsafeGuaranteedRef { entry in
                defer { entry.next = oldest }
                return entry.next
            }
            (oldest, count) = (post, count + 1)
        }
        append(oldest, to: newest, count: count)
    }

    /// Removes and returns the first post, still retained.
    mutating func removeFirst() -> Unmanaged<Post>? {
        guard let post = first else { return nil }
        first = post._withUnsafeGuaranteedRef { $0.next }
        if first == nil { last = nil }
        count -= 1
        return post
    }

    private mutating func append(_ oldest: Unmanaged<Post>, to newest: Unmanaged<Post>, count: Int) {
        if let last { last._withUnsafeGuaranteedRef { $0.next = oldest } } else { first = oldest }
        last = newest
        self.count += count
    }
}

/// A block that another thread has posted.
final class PostedBlock: Post, @unchecked Sendable {
    private let block: @Sendable () -> Void

    init(_ block: @escaping @Sendable () -> Void) { self.block = block }

    override func deliver(on loop: EventLoop) { block() }
}
