import Glibc

/// A thread that can be waited for.
struct Thread {
    private let id: pthread_t

    init(_ body: @escaping @Sendable () -> Void) {
        var id = pthread_t()
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        pthread_create(
            &id, nil,
            { argument in
                argument.map { Unmanaged<Box>.fromOpaque($0).takeRetainedValue().body() }
                return nil
            }, box)
        self.id = id
    }

    func join() { pthread_join(id, nil) }

    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
