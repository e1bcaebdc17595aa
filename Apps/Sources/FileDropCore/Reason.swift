/// Why a side does not go on with one that it does not know. Of someone who is not known here either, only these words are printed.
public enum Reason: String, CaseIterable, Sendable {
    /// No person is asked about it, or one has declined it before.
    case unknownKey = "this machine's key is not known there"
    /// Its name has another key.
    case changedKey = "this machine's key is another than it was there"
    /// Its name got another key while a person was asked.
    case newerKey = "another key became known there"
    /// The file of known keys is of no use.
    case unreadableFile = "it cannot be said there whose key it is"
    /// A person has been asked too often.
    case tooMany = "too many are asked about there; try again in a minute"
    /// Another question is before the person.
    case busy = "someone else is being asked about there; try again"
    /// As many transfers run as may, or as many of strangers.
    case full = "no place is free there; try again"
    /// The person said no.
    case declined = "the person there said no"
    /// The person said nothing.
    case unanswered = "no one there has answered"
}
