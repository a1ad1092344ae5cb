internal import CarpoolJSON

/// A failure of a request, as the daemon reports it: the member `error` of an outcome, or a refused call.
struct CurlFailure: Equatable {
    /// The name in the table of failures, such as `session_task_failed.timed_out`.
    var name = ""
    var message = ""
    /// libcurl's exit code and text; `nil` for a failure that libcurl did not report.
    var code: Int32?
    var text: String?
    /// Which time-out was reached: `connect`, `idle`, `resource` ...
    var timeout: String?
    /// The limit of the body's size, and its length if the origin has sent it.
    var limitBytes: Int64?
    var sizeBytes: Int64?

    init() {}

    /// Reads the member `error`.
    init(_ error: JSON) {
        name = error["name"]?.string ?? ""
        message = error["message"]?.string ?? ""
        code = error["curl"]?["code"]?.int.flatMap(Int32.init(exactly:))
        text = error["curl"]?["text"]?.string
        timeout = error["timeout"]?.string
        limitBytes = error["details"]?["limit_bytes"]?.int.map(Int64.init)
        sizeBytes = error["details"]?["size_bytes"]?.int.map(Int64.init)
    }
}
