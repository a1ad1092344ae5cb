internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON

/// A submitted download to a file, and the resume data that is stored while it runs.
final class PendingDownload {
    let request: PendingRequest
    private let note: ResumeNote
    /// Whether the resume data is stored.
    private(set) var isResumable = false

    init(_ request: PendingRequest, _ note: ResumeNote) {
        self.request = request
        self.note = note
    }

    /// Stores the resume data early, in case this process or the daemon is killed.
    func take(_ record: JSON) {
        guard !isResumable, record["finished"]?.bool == false, let token = record["resume_data"]?.string else { return }
        isResumable = note.save(token)
    }

    /// Cancels the download and stores its resume data.
    func interrupt() throws(Failure) {
        let answer = try request.call("request.cancel") { $0.member("resume_data", true) }
        settle(answer)
    }

    /// Stores the resume data of a download that has ended, or deletes what an earlier one has left.
    func settle(_ record: JSON) {
        guard let token = record["resume_data"]?.string else {
            isResumable = false
            return note.delete()
        }
        isResumable = note.save(token)
    }
}
