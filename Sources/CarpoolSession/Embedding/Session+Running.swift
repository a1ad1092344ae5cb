public import CarpoolHTTP
internal import CarpoolSystem

extension Session {
    /// Runs a program that makes requests, on the calling thread, and returns its result. No daemon is used, and no
    /// other thread is started.
    ///
    /// Blocks until the program returns; active requests are cancelled then, and the monitor is notified that the
    /// session is invalid.
    /// - Parameters:
    ///   - configuration: the common settings of all requests.
    ///   - eventMonitor: receives the events of all requests.
    ///   - transport: the limits of the pool of connections.
    ///   - temporaryDirectory: the directory of large bodies, which are files without names; `nil` for `$TMPDIR`, or
    ///     else `/tmp`.
    ///   - program: makes requests and waits for them.
    /// - Throws: the error of the program; `SystemError` or `TransportError` if the loop or the transport cannot be
    ///   made.
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
/// `@unchecked Sendable` because the program runs on the thread that waits for it.
private final class ProgramRun<Value>: @unchecked Sendable {
    private let program: (isolated EmbeddedSession) async throws -> Value
    private(set) var result: Result<Value, any Error>?

    init(_ program: @escaping (isolated EmbeddedSession) async throws -> Value) { self.program = program }

    func perform(in session: isolated EmbeddedSession) async {
        do { result = .success(try await program(session)) } catch { result = .failure(error) }
    }
}

/// A monitor that ignores all events.
private final class SilentMonitor: EventMonitor {}
