import CarpoolHTTP

@testable import CarpoolCache
@testable import CarpoolSystem

/// A ``CachingTransport`` over a ``ScriptedOrigin``, on a loop that the test runs turn by turn.
final class CacheStage {
    let loop: EventLoop
    let origin = ScriptedOrigin()
    let stores: CacheStores
    let transport: CachingTransport
    private var uses: [String: CacheUse] = [:]

    init(memoryBytes: Int = 16_777_216) throws {
        loop = try EventLoop()
        stores = CacheStores(loop: loop, memoryBytes: memoryBytes)
        transport = CachingTransport(next: origin, loop: loop, stores: stores)
    }

    /// Starts a request.
    @discardableResult func get(
        _ path: String = "/", _ fields: [String: String] = [:], method: HTTPMethod = .get, store: String = "s",
        user: UInt32? = nil, settings: CacheSettings? = nil, idle: Int? = nil, resource: Int? = nil,
        caller: Caller = Caller(),
        _ change: (inout CacheUse.Values) -> Void = { _ in }
    ) throws -> Caller {
        var values = CacheUse.Values(store: CacheStoreName(user: user, name: store))
        values.settings = settings ?? CacheStage.inMemory
        change(&values)
        var request = TransportRequest(method: method, url: try HTTPURL("http://origin.test\(path)"))
        request.partition.user = user
        if let idle { request.idleTimeoutMilliseconds = idle }
        if let resource { request.resourceTimeoutMilliseconds = resource }
        request.fields = try fields.sorted { $0.key < $1.key }.map { try HTTPField(name: $0.key, value: $0.value) }
        request.cache = CacheUse(values)
        caller.task = transport.start(request, delegate: caller)
        return caller
    }

    static var inMemory: CacheSettings {
        var settings = CacheSettings()
        settings.diskBytes = 0
        return settings
    }

    /// The task of the origin with this number, from 1.
    func task(_ number: Int) throws -> OriginTask {
        guard origin.tasks.count >= number else { throw StageError.noTask(number, of: origin.tasks.count) }
        return origin.tasks[number - 1]
    }

    /// Runs the loop for some turns, in which everything that is due is done.
    func turns(_ count: Int = 4) {
        for _ in 0..<count {
            loop.arm(Timer { [loop] in loop.stop() }, afterMilliseconds: 0)
            loop.run()
        }
    }

    enum StageError: Error { case noTask(Int, of: Int) }
}
