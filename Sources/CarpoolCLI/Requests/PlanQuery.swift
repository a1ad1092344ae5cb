internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Asks for the settings of the connection that a request would use, with the parameters of the request itself: a body
/// for standard output has the descriptor that it would have.
struct PlanQuery {
    private let request: RequestArguments
    private let writer: RequestWriter
    private let destination: DownloadDestination?
    private let daemon: DaemonAccess

    init(_ request: RequestArguments, _ daemon: DaemonAccess) throws(Failure) {
        self.request = request
        self.daemon = daemon
        writer = RequestWriter(request, try HeaderFile.fields(of: request.headers), nil)
        destination = request.output.flatMap { DownloadDestination($0, request, daemon) }
    }

    /// Whether the body is printed while it arrives, byte for byte.
    var printsWhileItArrives: Bool {
        OutputRunner.takes(request) && request.streaming == nil && destination == nil
    }

    /// Returns the answer of `request.explain`.
    func run() throws(Failure) -> JSON {
        let isCopied = OutputRunner.copies(request)
        // A body that is copied is stored first if the cookies are saved.
        guard printsWhileItArrives, !isCopied || request.cookies.jar == nil else {
            return try call(.none, isPassed: false)
        }
        do throws(Failure) {
            if !isCopied { return try call(PassedDescriptors(STDOUT_FILENO), isPassed: true) }
        } catch {
            guard error.refusal == "file.cannot_open" else { throw error }
        }
        return try callWithPipe()
    }

    private func callWithPipe() throws(Failure) -> JSON {
        // The read end stays open, since a pipe without a reader takes no body.
        let reader: Int32
        let writer: FileDescriptor
        do throws(SystemError) {
            let ends = try FileDescriptor.pipe()
            reader = ends.read
            writer = FileDescriptor(owning: ends.write)
        } catch {
            throw Failure(.transferFailed, "cannot make a pipe: \(error.reason)")
        }
        defer { close(reader) }
        return try call(PassedDescriptors(writer.raw), isPassed: true)
    }

    private func call(_ descriptors: PassedDescriptors, isPassed: Bool) throws(Failure) -> JSON {
        try daemon.call("request.explain", passing: descriptors) { json in
            writer.write(to: &json) { json in
                if request.streaming != nil { json.member("kind", static: "stream") }
                if isPassed { OutputRunner.writeOutput(to: &json, of: request) }
                guard let destination else { return }
                json.member("kind", static: "download")
                destination.write(to: &json, failsOnStatus: request.failsOnStatus)
            }
        }
    }
}
