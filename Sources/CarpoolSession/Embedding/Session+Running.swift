public import CarpoolHTTP
internal import CarpoolSystem

extension Session {
    /// Runs a program that makes requests, on the calling thread, and gives what it gives. No daemon is asked, no other thread is started.
    ///
    /// Blocks until the program is done; requests that are not over by then are cancelled, and the monitor is told that the session is invalid.
    /// - Parameters:
    ///   - configuration: what all requests have in common.
    ///   - eventMonitor: watches every step of every request.
    ///   - transport: the limits of the pool of connections.
    ///   - temporaryDirectory: where large bodies lie, in files without names; `nil` for `$TMPDIR`, or else `/tmp`.
    ///   - program: makes requests and waits for them.
    /// - Throws: what the program throws; `SystemError` or `TransportError` if the system or libcurl refuses to work.
    public static func run<Value>(
        _ configuration: SessionConfiguration = SessionConfiguration(), eventMonitor: (any EventMonitor)? = nil,
        transport: TransportConfiguration = TransportConfiguration(), temporaryDirectory: String? = nil,
        _ program: @escaping (isolated EmbeddedSession) async throws -> Value
    ) throws -> Value {
        let embedded = try EmbeddedSession(
            EmbeddedSession.Parts(
                configuration: configuration, eventMonitor: eventMonitor ?? SilentMonitor(), transport: transport,
                temporaryDirectory: temporaryDirectory ?? Environment.process["TMPDIR"] ?? "/tmp"))
        let run = ProgramRun(program)
        _ = Task(executorPreference: embedded.loop) {
            await run.perform(in: embedded)
            await embedded.end()
        }
        embedded.loop.run()
        guard let result = run.result else { throw CancellationError() }
        return try result.get()
    }
}

/// A program and its result.
///
/// `@unchecked Sendable` because the program runs on the very thread that waits for it.
private final class ProgramRun<Value>: @unchecked Sendable {
    private let program: (isolated EmbeddedSession) async throws -> Value
    private(set) var result: Result<Value, any Error>?

    init(_ program: @escaping (isolated EmbeddedSession) async throws -> Value) { self.program = program }

    func perform(in session: isolated EmbeddedSession) async {
        do { result = .success(try await program(session)) } catch { result = .failure(error) }
    }
}

/// The monitor of whoever does not watch.
private final class SilentMonitor: EventMonitor {}
