internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The destination of a download that the daemon writes: a regular file, or a path where none exists yet.
struct DownloadDestination {
    /// The absolute path.
    private let path: String
    /// The resume data beside it.
    let note: ResumeNote

    /// `nil` if the command has to write it itself: pipes, devices, its own descriptors such as `/dev/stdout`, output
    /// with a header, and daemons of another user.
    init?(_ name: String, _ request: RequestArguments, _ daemon: DaemonAccess) {
        // One that may not be followed is refused where it is written.
        guard let place = try? OutputFile.place(of: name) else { return nil }
        var info = stat()
        let isThere = SystemPath.withBytes(place) { stat($0, &info) } == 0
        guard !request.printsHead, !isThere || info.st_mode & S_IFMT == S_IFREG, daemon.isOurs else { return nil }
        path = SocketLocation.absolute(place)
        note = ResumeNote(of: path)
    }

    /// Writes the member `destination`. Without `--fail` the body of an error response is saved too.
    func write(to writer: inout JSONWriter, failsOnStatus: Bool) {
        let mask = umask(0)
        umask(mask)
        writer.key("destination")
        writer.beginObject()
        writer.member("path", path)
        writer.member("remove_previous", true)
        writer.member("keep_attributes", true)
        writer.member("umask", Int(mask))
        if !failsOnStatus { writer.member("validate_before_move", false) }
        writer.endObject()
    }
}

extension RequestArguments {
    /// Fails before a server is asked, if the file of `-o` could not be written in the end.
    func checkOutput() throws(Failure) {
        guard let output else { return }
        do throws(SystemError) {
            try OutputFile.check(output)
        } catch {
            let folder = "make the directory before, with mkdir -p"
            throw Failure(
                .transferFailed, "cannot write to \(output): \(error.reason)",
                hint: error.code == ENOENT ? folder : error.advice)
        }
    }
}
