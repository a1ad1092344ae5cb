/// How much of a request its record has.
enum RecordLevel: String {
    /// No attempts: the method and the URL of the last one, and the redirects that it followed.
    case short
    /// The attempts with their URLs and metrics.
    case standard
    /// All of that, the fields of all requests and responses, and the timeline.
    case full
}
