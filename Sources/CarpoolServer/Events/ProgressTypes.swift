internal import CarpoolRPC

/// The types that progress is about.
enum ProgressTypes {
    /// Progress itself.
    static let steps = EventTypeSet(stepTypes)
    /// What ends the progress of an attempt.
    static let endings = EventTypeSet([.taskDidComplete, .requestDidFinish])
    /// The same as ``steps``, one by one.
    static let stepTypes: [EventType] = [.requestProgress, .requestUploadProgress]
}
